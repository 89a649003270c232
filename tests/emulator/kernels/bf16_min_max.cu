// Minimum and maximum of bfloat16: NaNs that lose, and NaNs that win.
// in: a bfloat16[1024] = edges
// in: b bfloat16[1024] = edges2
// out: least bfloat16[1024]
// out: most bfloat16[1024]
// out: least_or_nan bfloat16[1024]
// out: most_or_nan bfloat16[1024]
// launch: bf16_min_max<<<4, 256>>>(least, most, least_or_nan, most_or_nan, a, b)
#include <cuda_bf16.h>
__global__ void bf16_min_max(
    __nv_bfloat16* least,
    __nv_bfloat16* most,
    __nv_bfloat16* least_or_nan,
    __nv_bfloat16* most_or_nan,
    const __nv_bfloat16* a,
    const __nv_bfloat16* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    least[i] = __hmin(a[i], b[i]);
    most[i] = __hmax(a[i], b[i]);
    least_or_nan[i] = __hmin_nan(a[i], b[i]);
    most_or_nan[i] = __hmax_nan(a[i], b[i]);
}
