// The twin of the asynchronous copies: two stages, each waited for.
// in: float a[512]
// out: float y[128]
// launch: load<<<1, 128>>>(y, a)
#include <cuda_pipeline.h>
extern "C" __global__ void load(float* y, const float* a) {
    __shared__ float row[2][128];
    float sum = 0.0f;
    __pipeline_memcpy_async(&row[0][threadIdx.x], &a[threadIdx.x], 4);
    __pipeline_commit();
    for (int step = 0; step < 4; ++step) {
        if (step < 3) __pipeline_memcpy_async(&row[(step + 1) % 2][threadIdx.x], &a[(step + 1) * 128 + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += row[step % 2][127 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}
