// Constant memory where the lanes of a warp differ: one, two or 32 words of it for one load.
// run: --size n=4194304 --size ways=1 --output y=float32:n
// run: --size n=4194304 --size ways=2 --output y=float32:n
// run: --size n=4194304 --size ways=32 --output y=float32:n
// launch: constant_lookups<<<n / 256, 256>>>(y, ways)

__constant__ float words[256] = {3.0f, 1.0f, 4.0f, 1.0f, 5.0f, 9.0f, 2.0f, 6.0f};

__global__ void constant_lookups(float* y, int ways)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x % ways;
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += words[(at + 8 * k) & 255];
    y[i] = sum;
}
