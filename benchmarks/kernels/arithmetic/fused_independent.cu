// Eight chains of multiply-adds per thread, which do not wait for each other.
// run: --size n=540672 --size rounds=64 --input x=normal:n --output y=float32:n
// run: --size n=2162688 --size rounds=256 --input x=normal:n --output y=float32:n
// launch: fused_independent<<<n / 256, 256>>>(y, x, rounds)

#define CHAINS 8

__global__ void fused_independent(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = 0.5f + 0.01f * x[i];
    float values[CHAINS], sum = 0.0f;
    for (int k = 0; k < CHAINS; k++)
        values[k] = factor + k;
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < CHAINS; k++)
            values[k] = values[k] * factor + 0.75f;
    for (int k = 0; k < CHAINS; k++)
        sum += values[k];
    y[i] = sum;
}
