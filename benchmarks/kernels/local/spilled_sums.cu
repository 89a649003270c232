// 7 x 7 sums per thread in a loop, in 32 registers: some are spilled, in every round of the loop.
// run: --size n=65536 --size rounds=8 --input a=normal:n*rounds+64 --output y=float32:49*n
// run: --size n=262144 --size rounds=16 --input a=normal:n*rounds+64 --output y=float32:49*n
// launch: spilled_sums<<<n / 256, 256>>>(y, a, n, rounds)

__global__ void __launch_bounds__(256, 8) spilled_sums(float* y, const float* a, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum[7][7] = {};
    for (int r = 0; r < rounds; r++) {
        const float* from = a + r * n + i;
#pragma unroll
        for (int j = 0; j < 7; j++)
#pragma unroll
            for (int k = 0; k < 7; k++) sum[j][k] += from[j] * from[32 + k];
    }
#pragma unroll
    for (int j = 0; j < 7; j++)
#pragma unroll
        for (int k = 0; k < 7; k++) y[(7 * j + k) * n + i] = sum[j][k];
}
