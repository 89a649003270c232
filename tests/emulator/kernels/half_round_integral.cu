// half rounded to integral values.
// in: a float16[256] = edges
// out: floor_a float16[256]
// out: ceil_a float16[256]
// out: trunc_a float16[256]
// out: rint_a float16[256]
// launch: half_round_integral<<<1, 256>>>(floor_a, ceil_a, trunc_a, rint_a, a)
#include <cuda_fp16.h>
__global__ void half_round_integral(__half* floor_a, __half* ceil_a, __half* trunc_a, __half* rint_a, const __half* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    floor_a[i] = hfloor(a[i]);
    ceil_a[i] = hceil(a[i]);
    trunc_a[i] = htrunc(a[i]);
    rint_a[i] = hrint(a[i]);
}
