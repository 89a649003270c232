// Words of two tables at random: what the L2 holds of either depends on both.
// run: --size n=8388608 --size m=4194304 --input a=normal:m --input b=normal:m --output y=float32:n
// run: --size n=8388608 --size m=8388608 --input a=normal:m --input b=normal:m --output y=float32:n
// run: --size n=8388608 --size m=16777216 --input a=normal:m --input b=normal:m --output y=float32:n
// launch: two_tables<<<n / 256, 256>>>(y, a, b, m)

__device__ unsigned mixed(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__global__ void two_tables(float* y, const float* a, const float* b, int m)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a[mixed(i) & (m - 1)] + b[mixed(~i) & (m - 1)];
}
