// Products of 64-bit integers: several multiply-adds of 32 bits each.
// run: --size n=1048576 --size rounds=16 --input x=index:n:uint32 --output y=uint64:n
// run: --size n=8388608 --size rounds=64 --input x=index:n:uint32 --output y=uint64:n
// launch: wide_products<<<n / 256, 256>>>(y, x, rounds)

__global__ void wide_products(unsigned long long* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long value = x[i] + 0x9e3779b97f4a7c15ull;
    for (int k = 0; k < rounds; k++)
        value = value * (value >> 7 | 1ull) + k;
    y[i] = value;
}
