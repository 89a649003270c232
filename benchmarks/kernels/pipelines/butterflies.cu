// Butterflies of shuffles: five a round, each of which needs the one before.
// run: --size n=1081344 --size rounds=8 --input x=normal:n --output y=float32:n
// run: --size n=8650752 --size rounds=32 --input x=normal:n --output y=float32:n
// launch: butterflies<<<n / 256, 256>>>(y, x, rounds)

__global__ void butterflies(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < rounds; k++) {
        for (int distance = 16; distance > 0; distance /= 2)
            value += __shfl_xor_sync(0xffffffffu, value, distance);
        value *= 0.03125f;
    }
    y[i] = value + threadIdx.x;
}
