// A chain of powers: each is a call's worth of instructions.
// run: --size n=1048576 --size rounds=4 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size rounds=16 --input x=normal:n --output y=float32:n
// launch: powers<<<n / 256, 256>>>(y, x, rounds)

__global__ void powers(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < rounds; k++)
        value = powf(fabsf(value) + 0.5f, 0.7f);
    y[i] = value;
}
