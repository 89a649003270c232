// Fields of bits: extraction, insertion, masks, sign extension.
// in: a uint32[1024] = edges
// in: b uint32[1024] = {0, 1, 5, 8, 16, 31, 32, 33, 255}
// in: c uint32[1024] = {0, 1, 5, 8, 16, 31, 32, 33, 63, 64, 100, 255}
// out: taken uint32[1024]
// out: taken_signed uint32[1024]
// out: put uint32[1024]
// out: mask uint32[1024]
// out: mask_wrapping uint32[1024]
// out: extended uint32[1024]
// out: extended_wrapped uint32[1024]
// launch: int_bit_fields<<<4, 256>>>(taken, taken_signed, put, mask, mask_wrapping, extended, extended_wrapped, a, b, c)
__device__ unsigned int bfe_u(unsigned int x, unsigned int y, unsigned int z)
{
    unsigned int d;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(z));
    return d;
}
__device__ unsigned int bfe_s(unsigned int x, unsigned int y, unsigned int z)
{
    unsigned int d;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(z));
    return d;
}
__device__ unsigned int bfi(unsigned int x, unsigned int y, unsigned int z)
{
    unsigned int d;
    asm("bfi.b32 %0, %1, %2, %3, 8;" : "=r"(d) : "r"(x), "r"(y), "r"(z));
    return d;
}
__device__ unsigned int mask_clamped(unsigned int x, unsigned int y)
{
    unsigned int d;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(y));
    return d;
}
__device__ unsigned int mask_wrapped(unsigned int x, unsigned int y)
{
    unsigned int d;
    asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(y));
    return d;
}
__device__ unsigned int extend_clamped(unsigned int x, unsigned int y)
{
    unsigned int d;
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(y));
    return d;
}
__device__ unsigned int extend_wrapped(unsigned int x, unsigned int y)
{
    unsigned int d;
    asm("szext.wrap.u32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(y));
    return d;
}
__global__ void int_bit_fields(
    unsigned int* taken,
    unsigned int* taken_signed,
    unsigned int* put,
    unsigned int* mask,
    unsigned int* mask_wrapping,
    unsigned int* extended,
    unsigned int* extended_wrapped,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    taken[i] = bfe_u(a[i], b[i], c[i]);
    taken_signed[i] = bfe_s(a[i], b[i], c[i]);
    put[i] = bfi(a[i], b[i], c[i]);
    mask[i] = mask_clamped(b[i], c[i]);
    mask_wrapping[i] = mask_wrapped(b[i], c[i]);
    extended[i] = extend_clamped(a[i], c[i]);
    extended_wrapped[i] = extend_wrapped(a[i], c[i]);
}
