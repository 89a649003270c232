// Converts integers to floats and back, at the rate of special functions.
// run: --size n=1048576 --size rounds=32 --input x=index:n:uint32 --output y=uint32:n
// run: --size n=8388608 --size rounds=64 --input x=index:n:uint32 --output y=uint32:n
// launch: conversions<<<n / 256, 256>>>(y, x, rounds)

__global__ void conversions(unsigned* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = x[i] + 1u;
    for (int k = 0; k < rounds; k++)
        value = (unsigned)((float)value * 0.75f) + k;
    y[i] = value;
}
