// Adds pairs of halves to pairs of halves, a thread per pair, and every pair `m` times.
// run: --size n=4194304 --size m=1 --input x=normal:2*n:float16 --output y=normal:2*n:float16
// run: --size n=131072 --size m=64 --input x=normal:2*n:float16 --output y=normal:2*n:float16
// launch: sums_half2<<<dim3(ceil_div(n, 256), m), 256>>>(y, x, n)

#include <cuda_fp16.h>

__global__ void sums_half2(__half2* y, const __half2* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&y[i], x[i]);
}
