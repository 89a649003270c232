// half division.
// in: a float16[1024] = edges
// in: b float16[1024] = edges2
// out: quotient float16[1024]
// launch: half_division<<<4, 256>>>(quotient, a, b)
#include <cuda_fp16.h>
__global__ void half_division(__half* quotient, const __half* a, const __half* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    quotient[i] = __hdiv(a[i], b[i]);
}
