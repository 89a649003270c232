// A reversal in shared memory, with more allocated than used: 13, 4 or 2 blocks per SM.
// run: --size n=16777216 --size bytes=16384 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --size bytes=49152 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --size bytes=102400 --input x=normal:n --output y=float32:n
// launch: few_by_shared<<<n / 1024, 128, bytes>>>(y, x)

__global__ void few_by_shared(float* y, const float* x)
{
    extern __shared__ float tile[];
    int first = blockIdx.x * 1024, t = threadIdx.x;
    for (int k = 0; k < 8; k++) tile[128 * k + t] = x[first + 128 * k + t];
    __syncthreads();
    for (int k = 0; k < 8; k++) y[first + 128 * k + t] = tile[1023 - 128 * k - t];
}
