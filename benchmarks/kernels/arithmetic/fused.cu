// Sixteen multiply-adds per round, each of which needs the one before.
// run: --size n=1048576 --size rounds=16 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size rounds=64 --input x=normal:n --output y=float32:n
// launch: fused<<<n / 256, 256>>>(y, x, rounds)

__global__ void fused(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = 0.1f * x[i], other = 0.3f * value;
    for (int k = 0; k < rounds; k++)
#pragma unroll
        for (int power = 0; power < 8; power++) {
            value = value * other + 0.25f;
            other = other * value + 0.125f;
        }
    y[i] = value + other;
}
