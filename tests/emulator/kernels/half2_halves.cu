// Pairs of half: operands that take one half for both, and swaps.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// in: c uint32[1024] = {0x3c00bc00, 0x7bff0001, 0x00008000, 0x7c003555, 0x3e0003ff}
// out: low uint32[1024]
// out: high uint32[1024]
// out: swapped uint32[1024]
// out: negated uint32[1024]
// launch: half2_halves<<<4, 256>>>(low, high, swapped, negated, a, b, c)
#include <cuda_fp16.h>
__device__ __half2 pair(unsigned int bits) { return *(__half2*)&bits; }
__device__ unsigned int bits(__half2 value) { return *(unsigned int*)&value; }
__global__ void half2_halves(
    unsigned int* low,
    unsigned int* high,
    unsigned int* swapped,
    unsigned int* negated,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    low[i] = bits(__hfma2(__low2half2(pair(a[i])), pair(b[i]), pair(c[i])));
    high[i] = bits(__hmul2(pair(a[i]), __high2half2(pair(b[i]))));
    swapped[i] = bits(__hadd2(pair(a[i]), __lowhigh2highlow(pair(b[i]))));
    negated[i] = bits(__hadd2(__hneg2(pair(a[i])), __habs2(pair(b[i]))));
}
