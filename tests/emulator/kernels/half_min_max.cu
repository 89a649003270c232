// Minimum and maximum of half: NaNs that lose, and NaNs that win.
// in: a float16[1024] = edges
// in: b float16[1024] = edges2
// out: least float16[1024]
// out: most float16[1024]
// out: least_or_nan float16[1024]
// out: most_or_nan float16[1024]
// launch: half_min_max<<<4, 256>>>(least, most, least_or_nan, most_or_nan, a, b)
#include <cuda_fp16.h>
__global__ void half_min_max(__half* least, __half* most, __half* least_or_nan, __half* most_or_nan, const __half* a, const __half* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    least[i] = __hmin(a[i], b[i]);
    most[i] = __hmax(a[i], b[i]);
    least_or_nan[i] = __hmin_nan(a[i], b[i]);
    most_or_nan[i] = __hmax_nan(a[i], b[i]);
}
