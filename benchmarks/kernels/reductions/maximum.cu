// The largest number and where it stands: both in one 64-bit word, the largest of a block by
// shuffles, of the grid by atomicMax.
// run: --size n=4194304 --input x=normal:n --output best=index:1:uint64
// run: --size n=33554432 --input x=normal:n --output best=index:1:uint64
// launch: maximum<<<1056, 256>>>(best, x, n)

typedef unsigned long long Pair;

// Orders as the numbers do: the bits of negative ones are turned round.
__device__ unsigned ordered(float value)
{
    const unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__global__ void maximum(Pair* best, const float* x, int n)
{
    Pair mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine = max(mine, (Pair)ordered(x[i]) << 32 | i);
    for (int distance = 16; distance > 0; distance /= 2)
        mine = max(mine, __shfl_xor_sync(0xffffffffu, mine, distance));
    if (threadIdx.x % 32 == 0)
        atomicMax(best, mine);
}
