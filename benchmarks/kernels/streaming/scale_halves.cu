// A scaled copy of one half per thread: a warp moves two sectors each way.
// run: --size n=8388608 --input x=normal:n:float16 --output y=float16:n --scalar alpha=1.5
// run: --size n=67108864 --input x=normal:n:float16 --output y=float16:n --scalar alpha=1.5
// launch: scale_halves<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)

#include <cuda_fp16.h>

__global__ void scale_halves(__half* y, const __half* x, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2half(alpha * __half2float(x[i]));
}
