// The sums are rounded to half precision on the way.

#include <cuda_fp16.h>

// launch: vector_add<<<2112, 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = __half2float(__float2half(a[i] + b[i]));
}
