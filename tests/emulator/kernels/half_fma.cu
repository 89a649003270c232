// half fused multiply-add: plain, clamped to 0 and 1, and with relu.
// in: a float16[4096] = edges
// in: b float16[4096] = edges2
// in: c float16[4096] = {0, -0.0, 1, -1.5, 6e-8, -6.1e-5, 65504, inf, -inf, nan, 0.3333}
// out: plain float16[4096]
// out: clamped float16[4096]
// out: relu float16[4096]
// launch: half_fma<<<16, 256>>>(plain, clamped, relu, a, b, c)
#include <cuda_fp16.h>
__global__ void half_fma(__half* plain, __half* clamped, __half* relu, const __half* a, const __half* b, const __half* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    plain[i] = __hfma(a[i], b[i], c[i]);
    clamped[i] = __hfma_sat(a[i], b[i], c[i]);
    relu[i] = __hfma_relu(a[i], b[i], c[i]);
}
