// SAXPY with one element per thread: y is read, and written where it was read.
// run: --size n=4194304 --input x=normal:n --output y=normal:n --scalar alpha=2.0
// run: --size n=33554432 --input x=normal:n --output y=normal:n --scalar alpha=2.0
// launch: saxpy<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)

__global__ void saxpy(float* y, const float* x, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}
