// Remainders by constants: a multiplication for the high word, and one more to subtract.
// run: --size n=1048576 --size rounds=32 --input x=index:n:uint32 --output y=uint32:n
// run: --size n=8388608 --size rounds=64 --input x=index:n:uint32 --output y=uint32:n
// launch: constant_remainders<<<n / 256, 256>>>(y, x, rounds)

__global__ void constant_remainders(unsigned* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = x[i] + 1u;
    for (int k = 0; k < rounds; k++)
        value = value * 747796405u + value % 1000003u + value / 77u;
    y[i] = value;
}
