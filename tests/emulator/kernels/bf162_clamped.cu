// Pairs of bf16: results clamped to 0 and 1, and relu.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// in: c uint32[1024] = {0x3f80bf80, 0x7f7f0001, 0x00008000, 0x7f803eab, 0x3fc0007f}
// out: sum uint32[1024]
// out: product uint32[1024]
// out: fused uint32[1024]
// out: relu uint32[1024]
// launch: bf162_clamped<<<4, 256>>>(sum, product, fused, relu, a, b, c)
#include <cuda_bf16.h>
__device__ __nv_bfloat162 pair(unsigned int bits) { return *(__nv_bfloat162*)&bits; }
__device__ unsigned int bits(__nv_bfloat162 value) { return *(unsigned int*)&value; }
__global__ void bf162_clamped(
    unsigned int* sum,
    unsigned int* product,
    unsigned int* fused,
    unsigned int* relu,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = bits(__hadd2_sat(pair(a[i]), pair(b[i])));
    product[i] = bits(__hmul2_sat(pair(a[i]), pair(b[i])));
    fused[i] = bits(__hfma2_sat(pair(a[i]), pair(b[i]), pair(c[i])));
    relu[i] = bits(__hfma2_relu(pair(a[i]), pair(b[i]), pair(c[i])));
}
