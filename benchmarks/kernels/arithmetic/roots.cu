// A chain of reciprocal square roots, square roots and divisions.
// run: --size n=1048576 --size rounds=8 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size rounds=32 --input x=normal:n --output y=float32:n
// launch: roots<<<n / 256, 256>>>(y, x, rounds)

__global__ void roots(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < rounds; k++)
        value = rsqrtf(value * value + 1.0f) + sqrtf(fabsf(value)) / (1.0f + fabsf(value));
    y[i] = value;
}
