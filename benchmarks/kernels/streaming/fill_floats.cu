// Stores only: one float per thread.
// run: --size n=8388608 --output y=float32:n --scalar value=1.0
// run: --size n=67108864 --output y=float32:n --scalar value=1.0
// launch: fill_floats<<<ceil_div(n, 256), 256>>>(y, value, n)

__global__ void fill_floats(float* y, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = value;
}
