// Ones, leading zeros, lowest ones and reversals of 32 bits.
// in: a uint32[256] = edges
// in: b uint32[256] = edges2
// out: ones uint32[256]
// out: zeros uint32[256]
// out: lowest uint32[256]
// out: reversed uint32[256]
// out: highest uint32[256]
// out: highest_signed uint32[256]
// out: shift uint32[256]
// launch: int_count_bits<<<1, 256>>>(ones, zeros, lowest, reversed, highest, highest_signed, shift, a, b)
__device__ unsigned int bfind_u(unsigned int x)
{
    unsigned int d;
    asm("bfind.u32 %0, %1;" : "=r"(d) : "r"(x));
    return d;
}
__device__ unsigned int bfind_s(unsigned int x)
{
    unsigned int d;
    asm("bfind.s32 %0, %1;" : "=r"(d) : "r"(x));
    return d;
}
__device__ unsigned int bfind_shift(unsigned int x)
{
    unsigned int d;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(d) : "r"(x));
    return d;
}
__global__ void int_count_bits(
    unsigned int* ones,
    unsigned int* zeros,
    unsigned int* lowest,
    unsigned int* reversed,
    unsigned int* highest,
    unsigned int* highest_signed,
    unsigned int* shift,
    const unsigned int* a,
    const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ones[i] = __popc(a[i]);
    zeros[i] = __clz(a[i]);
    lowest[i] = __ffs(a[i]);
    reversed[i] = __brev(a[i]);
    highest[i] = bfind_u(a[i]);
    highest_signed[i] = bfind_s(a[i]);
    shift[i] = bfind_shift(a[i]);
}
