// Even and odd lanes take different branches: each warp goes through both.
// run: --size n=1048576 --size rounds=32 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --size rounds=64 --input x=normal:n --output y=float32:n
// launch: lane_parity<<<n / 256, 256>>>(y, x, rounds)

__device__ float grow(float value, int rounds)
{
    for (int k = 0; k < rounds; k++)
        value = value * 0.9f + 0.5f * (value + k);
    return value;
}

__device__ float shrink(float value, int rounds)
{
    for (int k = 0; k < rounds; k++)
        value = fabsf(value - 0.25f * k) * 0.75f;
    return value;
}

__global__ void lane_parity(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = threadIdx.x % 2 == 0 ? grow(x[i], rounds) : shrink(x[i], rounds);
}
