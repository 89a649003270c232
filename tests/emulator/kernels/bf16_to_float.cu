// bfloat16 to float32 and integers.
// in: a bfloat16[256] = edges
// out: wide float32[256]
// out: nearest int32[256]
// out: down int32[256]
// out: long_zero int64[256]
// out: short_zero int16[256]
// out: u16_up uint16[256]
// launch: bf16_to_float<<<1, 256>>>(wide, nearest, down, long_zero, short_zero, u16_up, a)
#include <cuda_bf16.h>
__global__ void bf16_to_float(
    float* wide,
    int* nearest,
    int* down,
    long long* long_zero,
    short* short_zero,
    unsigned short* u16_up,
    const __nv_bfloat16* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    wide[i] = __bfloat162float(a[i]);
    nearest[i] = __bfloat162int_rn(a[i]);
    down[i] = __bfloat162int_rd(a[i]);
    long_zero[i] = __bfloat162ll_rz(a[i]);
    short_zero[i] = __bfloat162short_rz(a[i]);
    u16_up[i] = __bfloat162ushort_ru(a[i]);
}
