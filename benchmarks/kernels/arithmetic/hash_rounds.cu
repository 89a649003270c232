// Rounds of a hash: shifts, exclusive ors, multiplications, each of which needs the one before.
// run: --size n=1048576 --size rounds=32 --input x=index:n:uint32 --output y=uint32:n
// run: --size n=8388608 --size rounds=128 --input x=index:n:uint32 --output y=uint32:n
// launch: hash_rounds<<<n / 256, 256>>>(y, x, rounds)

__global__ void hash_rounds(unsigned* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = x[i] + 1u;
    for (int k = 0; k < rounds; k++)
        value = ((value ^ (value >> 15)) * 2654435761u ^ (value << 7)) + k;
    y[i] = value;
}
