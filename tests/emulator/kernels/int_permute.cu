// Bytes chosen by a selector, and the modes of prmt.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// in: s uint32[1024] = {0x3210, 0x7654, 0xfedc, 0x0088, 0x1111, 0, 1, 2, 3, 0x8, 0xffff, 0x5b1c}
// out: chosen uint32[1024]
// out: f4e uint32[1024]
// out: b4e uint32[1024]
// out: rc8 uint32[1024]
// out: ecl uint32[1024]
// out: ecr uint32[1024]
// out: rc16 uint32[1024]
// out: constant uint32[1024]
// launch: int_permute<<<4, 256>>>(chosen, f4e, b4e, rc8, ecl, ecr, rc16, constant, a, b, s)
__device__ unsigned int f4e_of(unsigned int x, unsigned int y, unsigned int s)
{
    unsigned int d;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(s));
    return d;
}
__device__ unsigned int b4e_of(unsigned int x, unsigned int y, unsigned int s)
{
    unsigned int d;
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(s));
    return d;
}
__device__ unsigned int rc8_of(unsigned int x, unsigned int y, unsigned int s)
{
    unsigned int d;
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(s));
    return d;
}
__device__ unsigned int ecl_of(unsigned int x, unsigned int y, unsigned int s)
{
    unsigned int d;
    asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(s));
    return d;
}
__device__ unsigned int ecr_of(unsigned int x, unsigned int y, unsigned int s)
{
    unsigned int d;
    asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(s));
    return d;
}
__device__ unsigned int rc16_of(unsigned int x, unsigned int y, unsigned int s)
{
    unsigned int d;
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(y), "r"(s));
    return d;
}
__global__ void int_permute(
    unsigned int* chosen,
    unsigned int* f4e,
    unsigned int* b4e,
    unsigned int* rc8,
    unsigned int* ecl,
    unsigned int* ecr,
    unsigned int* rc16,
    unsigned int* constant,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    chosen[i] = __byte_perm(a[i], b[i], s[i]);
    f4e[i] = f4e_of(a[i], b[i], s[i]);
    b4e[i] = b4e_of(a[i], b[i], s[i]);
    rc8[i] = rc8_of(a[i], b[i], s[i]);
    ecl[i] = ecl_of(a[i], b[i], s[i]);
    ecr[i] = ecr_of(a[i], b[i], s[i]);
    rc16[i] = rc16_of(a[i], b[i], s[i]);
    constant[i] = __byte_perm(a[i], b[i], 0x5410);
}
