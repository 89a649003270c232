// Counts ones, reverses bits and looks for the highest one: the slow pipe of integer instructions.
// run: --size n=1048576 --size rounds=32 --input x=index:n:uint32 --output y=uint32:n
// run: --size n=8388608 --size rounds=64 --input x=index:n:uint32 --output y=uint32:n
// launch: bit_counts<<<n / 256, 256>>>(y, x, rounds)

__global__ void bit_counts(unsigned* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = x[i] + 1u;
    for (int k = 0; k < rounds; k++)
        value += __popc(value) * 0x10001u + __brev(value) + __clz(value);
    y[i] = value;
}
