// Sums and products of 32-bit integers that saturate.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: sum uint32[1024]
// out: fused uint32[1024]
// launch: int_saturate<<<4, 256>>>(sum, fused, a, b, c)
__device__ unsigned int add_sat(unsigned int x, unsigned int y)
{
    unsigned int d;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(y));
    return d;
}
__device__ unsigned int mad_sat(unsigned int x, unsigned int y, unsigned int z)
{
    unsigned int d;
    asm("mad.hi.sat.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(z));
    return d;
}
__global__ void int_saturate(unsigned int* sum, unsigned int* fused, const unsigned int* a, const unsigned int* b, const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = add_sat(a[i], b[i]);
    fused[i] = mad_sat(a[i], b[i], c[i]);
}
