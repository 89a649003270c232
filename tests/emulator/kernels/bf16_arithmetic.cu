// bfloat16 addition, subtraction, multiplication of scalars.
// in: a bfloat16[1024] = edges
// in: b bfloat16[1024] = edges2
// out: sum bfloat16[1024]
// out: difference bfloat16[1024]
// out: product bfloat16[1024]
// launch: bf16_arithmetic<<<4, 256>>>(sum, difference, product, a, b)
#include <cuda_bf16.h>
__global__ void bf16_arithmetic(
    __nv_bfloat16* sum,
    __nv_bfloat16* difference,
    __nv_bfloat16* product,
    const __nv_bfloat16* a,
    const __nv_bfloat16* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = __hadd(a[i], b[i]);
    difference[i] = __hsub(a[i], b[i]);
    product[i] = __hmul(a[i], b[i]);
}
