// Exponential, logarithm and square root of bfloat16: within a unit.
// in: a bfloat16[256] = edges
// out: e bfloat16[256]
// out: e2 bfloat16[256]
// out: l bfloat16[256]
// out: root bfloat16[256]
// out: inverse_root bfloat16[256]
// out: inverse bfloat16[256]
// launch: bf16_math<<<1, 256>>>(e, e2, l, root, inverse_root, inverse, a)
#include <cuda_bf16.h>
__global__ void bf16_math(
    __nv_bfloat16* e,
    __nv_bfloat16* e2,
    __nv_bfloat16* l,
    __nv_bfloat16* root,
    __nv_bfloat16* inverse_root,
    __nv_bfloat16* inverse,
    const __nv_bfloat16* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    e[i] = hexp(a[i]);
    e2[i] = hexp2(a[i]);
    l[i] = hlog(a[i]);
    root[i] = hsqrt(a[i]);
    inverse_root[i] = hrsqrt(a[i]);
    inverse[i] = hrcp(a[i]);
}
