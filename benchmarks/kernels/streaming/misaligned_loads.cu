// Loads that are one element off a line: a warp touches five sectors where four would do.
// run: --size n=4194304 --input x=normal:n+1 --output y=float32:n
// run: --size n=33554432 --input x=normal:n+1 --output y=float32:n
// launch: misaligned_loads<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void misaligned_loads(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + 1];
}
