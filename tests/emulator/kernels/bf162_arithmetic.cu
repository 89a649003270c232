// Pairs of bf16: addition, subtraction, multiplication, fused multiply-add.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// in: c uint32[1024] = {0x3f80bf80, 0x7f7f0001, 0x00008000, 0x7f803eab, 0x3fc0007f}
// out: sum uint32[1024]
// out: difference uint32[1024]
// out: product uint32[1024]
// out: fused uint32[1024]
// out: with_constants uint32[1024]
// launch: bf162_arithmetic<<<4, 256>>>(sum, difference, product, fused, with_constants, a, b, c)
#include <cuda_bf16.h>
__device__ __nv_bfloat162 pair(unsigned int bits) { return *(__nv_bfloat162*)&bits; }
__device__ unsigned int bits(__nv_bfloat162 value) { return *(unsigned int*)&value; }
__global__ void bf162_arithmetic(
    unsigned int* sum,
    unsigned int* difference,
    unsigned int* product,
    unsigned int* fused,
    unsigned int* with_constants,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = bits(__hadd2(pair(a[i]), pair(b[i])));
    difference[i] = bits(__hsub2(pair(a[i]), pair(b[i])));
    product[i] = bits(__hmul2(pair(a[i]), pair(b[i])));
    fused[i] = bits(__hfma2(pair(a[i]), pair(b[i]), pair(c[i])));
    with_constants[i] = bits(__hfma2(pair(a[i]), pair(0x3e003d00), pair(0xbc003c00)));
}
