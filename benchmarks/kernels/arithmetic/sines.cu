// A chain of sines and cosines, with the accuracy of the library.
// run: --size n=1048576 --size rounds=8 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size rounds=32 --input x=normal:n --output y=float32:n
// launch: sines<<<n / 256, 256>>>(y, x, rounds)

__global__ void sines(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < rounds; k++)
        value = sinf(value) + cosf(2.0f * value) + 1.0f;
    y[i] = value;
}
