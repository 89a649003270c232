// Pairs of half: comparisons that write 1.0 or 0.0 a half, or masks.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// in: c uint32[1024] = {0x3c00bc00, 0x7bff0001, 0x00008000, 0x7c003555, 0x3e0003ff}
// out: less uint32[1024]
// out: unequal uint32[1024]
// out: nans uint32[1024]
// out: most uint32[1024]
// out: both uint32[1024]
// launch: half2_compare<<<4, 256>>>(less, unequal, nans, most, both, a, b, c)
#include <cuda_fp16.h>
__device__ __half2 pair(unsigned int bits) { return *(__half2*)&bits; }
__device__ unsigned int bits(__half2 value) { return *(unsigned int*)&value; }
__global__ void half2_compare(
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
