// bfloat16 fused multiply-add: plain, clamped to 0 and 1, and with relu.
// in: a bfloat16[4096] = edges
// in: b bfloat16[4096] = edges2
// in: c bfloat16[4096] = {0, -0.0, 1, -1.5, 1e-40, -1.1754942e-38, 3.38e38, inf, -inf, nan, 0.3333}
// out: plain bfloat16[4096]
// out: clamped bfloat16[4096]
// out: relu bfloat16[4096]
// launch: bf16_fma<<<16, 256>>>(plain, clamped, relu, a, b, c)
#include <cuda_bf16.h>
__global__ void bf16_fma(
    __nv_bfloat16* plain,
    __nv_bfloat16* clamped,
    __nv_bfloat16* relu,
    const __nv_bfloat16* a,
    const __nv_bfloat16* b,
    const __nv_bfloat16* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    plain[i] = __hfma(a[i], b[i], c[i]);
    clamped[i] = __hfma_sat(a[i], b[i], c[i]);
    relu[i] = __hfma_relu(a[i], b[i], c[i]);
}
