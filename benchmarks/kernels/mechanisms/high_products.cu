// Upper halves of products in independent chains: the integer multiplier passes each one twice.
// run: --size n=540672 --size rounds=64 --input x=index:n:uint32 --output y=uint32:n
// run: --size n=2162688 --size rounds=256 --input x=index:n:uint32 --output y=uint32:n
// launch: high_products<<<n / 256, 256>>>(y, x, rounds)

#define CHAINS 8

__global__ void high_products(unsigned* y, const unsigned* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned values[CHAINS], sum = 0;
    for (int k = 0; k < CHAINS; k++)
        values[k] = x[i] + 0x9e3779b9u * k;
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < CHAINS; k++)
            values[k] = __umulhi(values[k], 0xfffffff1u);
    for (int k = 0; k < CHAINS; k++)
        sum += values[k];
    y[i] = sum;
}
