// Integer divisions and remainders by a number that the compiler does not know: many instructions
// each.
// run: --size n=1048576 --size rounds=8 --input x=index:n:uint32 --output y=uint32:n
// run: --size n=8388608 --size rounds=32 --input x=index:n:uint32 --output y=uint32:n
// launch: divisions<<<n / 256, 256>>>(y, x, rounds)

__global__ void divisions(unsigned* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = x[i] + 1u;
    for (int k = 0; k < rounds; k++)
        value = value * 747796405u + value / (k + 3u) + value % (k + 7u);
    y[i] = value;
}
