// Bytes that go through a table of constants, as a cipher's do: lanes look up what they like.
// run: --size n=1048576 --size rounds=1 --input x=normal:n --output y=float32:n
// run: --size n=1048576 --size rounds=8 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size rounds=4 --input x=normal:n --output y=float32:n
// launch: substitutions<<<n / 256, 256>>>(y, x, rounds)

__constant__ unsigned table[256];

__global__ void substitutions(float* y, const float* x, int rounds)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned word = __float_as_int(x[i]);
    for (int k = 0; k < rounds; k++)
        word = (table[word & 255] ^ table[word >> 8 & 255] ^ table[word >> 16 & 255] ^ table[word >> 24]) + word * 1664525u + 1013904223u;
    y[i] = word >> 8;
}
