// The sum of four arrays, which lie one behind the other: five streams at once.
// run: --size n=4194304 --input x=normal:4*n --output y=float32:n
// run: --size n=25165824 --input x=normal:4*n --output y=float32:n
// launch: sum_of_four<<<ceil_div(n, 512), 512>>>(y, x, n)

__global__ void sum_of_four(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[n + i] + x[2 * n + i] + x[3 * n + i];
}
