// Stores to the odd words only: every sector is written, and none of them completely.
// run: --size n=4194304 --input x=normal:n --output y=float32:2*n
// run: --size n=33554432 --input x=normal:n --output y=float32:2*n
// launch: odd_stores<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void odd_stores(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[2 * i + 1] = x[i];
}
