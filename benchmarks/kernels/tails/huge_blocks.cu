// Blocks of 1,024 threads in four steps, each of which ends at a barrier for all threads.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: huge_blocks<<<n / 4096, 1024>>>(y, x)

__global__ void huge_blocks(float* y, const float* x)
{
    __shared__ float line[1024];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        int at = blockIdx.x * 4096 + k * 1024 + t;
        line[t] = x[at];
        __syncthreads();
        y[at] = line[1023 - t];
        __syncthreads();
    }
}
