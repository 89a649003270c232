// bfloat16 rounded to integral values.
// in: a bfloat16[256] = edges
// out: floor_a bfloat16[256]
// out: ceil_a bfloat16[256]
// out: trunc_a bfloat16[256]
// out: rint_a bfloat16[256]
// launch: bf16_round_integral<<<1, 256>>>(floor_a, ceil_a, trunc_a, rint_a, a)
#include <cuda_bf16.h>
__global__ void bf16_round_integral(
    __nv_bfloat16* floor_a,
    __nv_bfloat16* ceil_a,
    __nv_bfloat16* trunc_a,
    __nv_bfloat16* rint_a,
    const __nv_bfloat16* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    floor_a[i] = hfloor(a[i]);
    ceil_a[i] = hceil(a[i]);
    trunc_a[i] = htrunc(a[i]);
    rint_a[i] = hrint(a[i]);
}
