// Asynchronous copies of 4, 8 and 16 bytes to shared memory, in groups that are waited for one by one.
// in: a float32[1792] = random
// out: y float32[1792]
// launch: run<<<1, 256>>>(y, a)
#include <cuda_pipeline.h>
__global__ void run(float* y, const float* a)
{
    __shared__ __align__(16) float s[1792];
    const int i = threadIdx.x;
    __pipeline_memcpy_async(&s[i], &a[i], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[256 + 2 * i], &a[256 + 2 * i], 8);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[768 + 4 * i], &a[768 + 4 * i], 16);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    y[i] = s[i ^ 1];
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 256 + i; k < 1792; k += 256) y[k] = s[k ^ 1];
}
