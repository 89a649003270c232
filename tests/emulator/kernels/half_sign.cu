// half negation and absolute value.
// in: a float16[256] = edges
// out: minus float16[256]
// out: size float16[256]
// launch: half_sign<<<1, 256>>>(minus, size, a)
#include <cuda_fp16.h>
__global__ void half_sign(__half* minus, __half* size, const __half* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    minus[i] = __hneg(a[i]);
    size[i] = __habs(a[i]);
}
