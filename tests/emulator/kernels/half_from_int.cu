// Integers to half.
// in: a int32[256] = edges
// in: b uint32[256] = edges
// in: c int64[256] = edges
// in: d uint64[256] = edges
// in: e int16[256] = edges
// out: a_rn float16[256]
// out: a_rz float16[256]
// out: a_rd float16[256]
// out: a_ru float16[256]
// out: b_rn float16[256]
// out: c_rn float16[256]
// out: c_ru float16[256]
// out: d_rz float16[256]
// out: e_rn float16[256]
// launch: half_from_int<<<1, 256>>>(a_rn, a_rz, a_rd, a_ru, b_rn, c_rn, c_ru, d_rz, e_rn, a, b, c, d, e)
#include <cuda_fp16.h>
__global__ void half_from_int(
    __half* a_rn,
    __half* a_rz,
    __half* a_rd,
    __half* a_ru,
    __half* b_rn,
    __half* c_rn,
    __half* c_ru,
    __half* d_rz,
    __half* e_rn,
    const int* a,
    const unsigned int* b,
    const long long* c,
    const unsigned long long* d,
    const short* e)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_rn[i] = __int2half_rn(a[i]);
    a_rz[i] = __int2half_rz(a[i]);
    a_rd[i] = __int2half_rd(a[i]);
    a_ru[i] = __int2half_ru(a[i]);
    b_rn[i] = __uint2half_rn(b[i]);
    c_rn[i] = __ll2half_rn(c[i]);
    c_ru[i] = __ll2half_ru(c[i]);
    d_rz[i] = __ull2half_rz(d[i]);
    e_rn[i] = __short2half_rn(e[i]);
}
