// SAXPY by one warp per SM, and by four: a loop that waits for its two loads in every round.
// run: --size n=2097152 --size threads=32 --input x=normal:n --output y=normal:n
// run: --size n=8388608 --size threads=128 --input x=normal:n --output y=normal:n
// launch: lonely_warps<<<132, threads>>>(y, x, n)

__global__ void lonely_warps(float* y, const float* x, int n)
{
    int stride = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = 2.0f * x[i] + y[i];
}
