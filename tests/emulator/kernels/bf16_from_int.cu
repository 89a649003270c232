// Integers to bfloat16.
// in: a int32[256] = edges
// in: b uint32[256] = edges
// in: c int64[256] = edges
// in: d uint64[256] = edges
// in: e int16[256] = edges
// out: a_rn bfloat16[256]
// out: a_rz bfloat16[256]
// out: a_rd bfloat16[256]
// out: a_ru bfloat16[256]
// out: b_rn bfloat16[256]
// out: c_rn bfloat16[256]
// out: c_ru bfloat16[256]
// out: d_rz bfloat16[256]
// out: e_rn bfloat16[256]
// launch: bf16_from_int<<<1, 256>>>(a_rn, a_rz, a_rd, a_ru, b_rn, c_rn, c_ru, d_rz, e_rn, a, b, c, d, e)
#include <cuda_bf16.h>
__global__ void bf16_from_int(
    __nv_bfloat16* a_rn,
    __nv_bfloat16* a_rz,
    __nv_bfloat16* a_rd,
    __nv_bfloat16* a_ru,
    __nv_bfloat16* b_rn,
    __nv_bfloat16* c_rn,
    __nv_bfloat16* c_ru,
    __nv_bfloat16* d_rz,
    __nv_bfloat16* e_rn,
    const int* a,
    const unsigned int* b,
    const long long* c,
    const unsigned long long* d,
    const short* e)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_rn[i] = __int2bfloat16_rn(a[i]);
    a_rz[i] = __int2bfloat16_rz(a[i]);
    a_rd[i] = __int2bfloat16_rd(a[i]);
    a_ru[i] = __int2bfloat16_ru(a[i]);
    b_rn[i] = __uint2bfloat16_rn(b[i]);
    c_rn[i] = __ll2bfloat16_rn(c[i]);
    c_ru[i] = __ll2bfloat16_ru(c[i]);
    d_rz[i] = __ull2bfloat16_rz(d[i]);
    e_rn[i] = __short2bfloat16_rn(e[i]);
}
