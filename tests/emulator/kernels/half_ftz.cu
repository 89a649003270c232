// Halves whose denormals are flushed (.ftz): sums, products, fused, extremes, comparisons.
// in: a float16[1024] = edges
// in: b float16[1024] = edges2
// out: y float16[6144]
// launch: run<<<4, 256>>>(y, a, b)
#include <cuda_fp16.h>
__global__ void run(__half *y, const __half *a, const __half *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 1024;
    unsigned short p = __half_as_ushort(a[i]), q = __half_as_ushort(b[i]), r;
    unsigned s;
    asm("add.ftz.f16 %0, %1, %2;" : "=h"(r) : "h"(p), "h"(q)); y[i] = __ushort_as_half(r);
    asm("mul.ftz.f16 %0, %1, %2;" : "=h"(r) : "h"(p), "h"(q)); y[n + i] = __ushort_as_half(r);
    asm("fma.rn.ftz.f16 %0, %1, %2, %1;" : "=h"(r) : "h"(p), "h"(q)); y[2 * n + i] = __ushort_as_half(r);
    asm("fma.rn.ftz.relu.f16 %0, %1, %2, %2;" : "=h"(r) : "h"(p), "h"(q)); y[3 * n + i] = __ushort_as_half(r);
    asm("min.ftz.f16 %0, %1, %2;" : "=h"(r) : "h"(p), "h"(q)); y[4 * n + i] = __ushort_as_half(r);
    asm("{.reg .pred p; setp.lt.ftz.f16 p, %1, %2; selp.u32 %0, 1, 0, p;}" : "=r"(s) : "h"(p), "h"(q)); y[5 * n + i] = __ushort_as_half(s);
}
