// Exponential, logarithm and square root of half.
// in: a float16[256] = edges
// out: e float16[256]
// out: e2 float16[256]
// out: l float16[256]
// out: root float16[256]
// out: inverse_root float16[256]
// out: inverse float16[256]
// launch: half_math<<<1, 256>>>(e, e2, l, root, inverse_root, inverse, a)
#include <cuda_fp16.h>
__global__ void half_math(__half* e, __half* e2, __half* l, __half* root, __half* inverse_root, __half* inverse, const __half* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    e[i] = hexp(a[i]);
    e2[i] = hexp2(a[i]);
    l[i] = hlog(a[i]);
    root[i] = hsqrt(a[i]);
    inverse_root[i] = hrsqrt(a[i]);
    inverse[i] = hrcp(a[i]);
}
