// Stores that are one element off a line: neighbouring warps complete each other's sectors.
// run: --size n=4194304 --input x=normal:n --output y=float32:n+1
// run: --size n=33554432 --input x=normal:n --output y=float32:n+1
// launch: misaligned_stores<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void misaligned_stores(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i + 1] = x[i];
}
