// Two float32 packed into a pair of halves, and taken out of it.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: packed uint32[1024]
// out: low float32[1024]
// out: high float32[1024]
// launch: half2_pack<<<4, 256>>>(packed, low, high, a, b)
#include <cuda_fp16.h>
__device__ unsigned int pack(float low, float high)
{
    __half2 pair = __floats2half2_rn(low, high);
    return *(unsigned int*)&pair;
}
__global__ void half2_pack(unsigned int* packed, float* low, float* high, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    packed[i] = pack(a[i], b[i]);
    low[i] = __low2float(__floats2half2_rn(a[i], b[i]));
    high[i] = __high2float(__floats2half2_rn(a[i], b[i]));
}
