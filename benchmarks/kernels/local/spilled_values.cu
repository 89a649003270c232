// 48 values per thread, each multiplied with each, in 32 registers: the rest is spilled.
// run: --size n=131072 --input x=normal:48*n --output y=float32:n
// run: --size n=1048576 --input x=normal:48*n --output y=float32:n
// launch: spilled_values<<<n / 256, 256>>>(y, x, n)

__global__ void __launch_bounds__(256, 8) spilled_values(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value[48], sum = 0;
#pragma unroll
    for (int k = 0; k < 48; k++) value[k] = x[k * n + i];
#pragma unroll
    for (int j = 1; j < 48; j++)
#pragma unroll
        for (int k = 0; k < j; k++) sum += value[j] * value[k];
    y[i] = sum;
}
