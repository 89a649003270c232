// A sum of 128 bits: carries from word to word.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// out: top uint32[1024]
// out: low uint32[1024]
// launch: int_carry_chain<<<4, 256>>>(top, low, a, b)
__device__ unsigned int top_of(const unsigned int* a, const unsigned int* b, int i, bool low)
{
    unsigned int d0, d1, d2, d3;
    const int j = i & 1020;
    asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
        : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3)
        : "r"(a[j]), "r"(a[j + 1]), "r"(a[j + 2]), "r"(a[j + 3]), "r"(b[j]), "r"(~a[j + 1]), "r"(~a[j + 2]), "r"(b[i]));
    return low ? d0 ^ d1 ^ d2 : d3;
}
__global__ void int_carry_chain(unsigned int* top, unsigned int* low, const unsigned int* a, const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    top[i] = top_of(a, b, i, false);
    low[i] = top_of(a, b, i, true);
}
