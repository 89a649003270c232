// bfloat16 negation and absolute value.
// in: a bfloat16[256] = edges
// out: minus bfloat16[256]
// out: size bfloat16[256]
// launch: bf16_sign<<<1, 256>>>(minus, size, a)
#include <cuda_bf16.h>
__global__ void bf16_sign(__nv_bfloat16* minus, __nv_bfloat16* size, const __nv_bfloat16* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    minus[i] = __hneg(a[i]);
    size[i] = __habs(a[i]);
}
