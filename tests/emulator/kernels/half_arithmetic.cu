// half addition, subtraction, multiplication of scalars.
// in: a float16[1024] = edges
// in: b float16[1024] = edges2
// out: sum float16[1024]
// out: difference float16[1024]
// out: product float16[1024]
// launch: half_arithmetic<<<4, 256>>>(sum, difference, product, a, b)
#include <cuda_fp16.h>
__global__ void half_arithmetic(__half* sum, __half* difference, __half* product, const __half* a, const __half* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = __hadd(a[i], b[i]);
    difference[i] = __hsub(a[i], b[i]);
    product[i] = __hmul(a[i], b[i]);
}
