// bfloat16 division.
// in: a bfloat16[1024] = edges
// in: b bfloat16[1024] = edges2
// out: quotient bfloat16[1024]
// launch: bf16_division<<<4, 256>>>(quotient, a, b)
#include <cuda_bf16.h>
__global__ void bf16_division(__nv_bfloat16* quotient, const __nv_bfloat16* a, const __nv_bfloat16* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    quotient[i] = __hdiv(a[i], b[i]);
}
