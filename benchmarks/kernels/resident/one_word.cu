// Every thread reads one word, the same for all, before it scales its own.
// run: --size n=4194304 --input alpha=normal:1 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input alpha=normal:1 --input x=normal:n --output y=float32:n
// launch: one_word<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)

__global__ void one_word(float* y, const float* x, const float* alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = *alpha * x[i];
}
