// Integers clamped to narrower ones.
// in: a int32[256] = edges
// out: s8 int32[256]
// out: u16 uint16[256]
// out: u32 uint32[256]
// launch: convert_saturate<<<1, 256>>>(s8, u16, u32, a)
__device__ int to_s8(int x)
{
    int d;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(d) : "r"(x));
    return d;
}
__device__ unsigned short to_u16(int x)
{
    unsigned short d;
    asm("cvt.sat.u16.s32 %0, %1;" : "=h"(d) : "r"(x));
    return d;
}
__device__ unsigned int to_u32(int x)
{
    unsigned int d;
    asm("cvt.sat.u32.s32 %0, %1;" : "=r"(d) : "r"(x));
    return d;
}
__global__ void convert_saturate(int* s8, unsigned short* u16, unsigned int* u32, const int* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s8[i] = to_s8(a[i]);
    u16[i] = to_u16(a[i]);
    u32[i] = to_u32(a[i]);
}
