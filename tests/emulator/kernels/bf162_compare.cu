// Pairs of bf16: comparisons that write 1.0 or 0.0 a half, or masks.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// in: c uint32[1024] = {0x3f80bf80, 0x7f7f0001, 0x00008000, 0x7f803eab, 0x3fc0007f}
// out: less uint32[1024]
// out: unequal uint32[1024]
// out: nans uint32[1024]
// out: most uint32[1024]
// out: both uint32[1024]
// launch: bf162_compare<<<4, 256>>>(less, unequal, nans, most, both, a, b, c)
#include <cuda_bf16.h>
__device__ __nv_bfloat162 pair(unsigned int bits) { return *(__nv_bfloat162*)&bits; }
__device__ unsigned int bits(__nv_bfloat162 value) { return *(unsigned int*)&value; }
__global__ void bf162_compare(
    unsigned int* less,
    unsigned int* unequal,
    unsigned int* nans,
    unsigned int* most,
    unsigned int* both,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    less[i] = bits(__hlt2(pair(a[i]), pair(c[i])));
    unequal[i] = bits(__hneu2(pair(a[i]), pair(c[i])));
    nans[i] = bits(__hisnan2(pair(a[i])));
    most[i] = bits(__hmax2(pair(a[i]), pair(b[i])));
    both[i] = bits(__hbge2(pair(a[i]), pair(c[i])) ? pair(b[i]) : pair(c[i]));
}
