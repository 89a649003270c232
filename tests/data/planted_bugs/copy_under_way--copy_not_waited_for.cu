// An asynchronous copy is used without a wait for it.
// in: float a[128]
// out: float y[128]
// launch: load<<<1, 128>>>(y, a)
#include <cuda_pipeline.h>
extern "C" __global__ void load(float* y, const float* a) {
    __shared__ float row[128];
    __pipeline_memcpy_async(&row[threadIdx.x], &a[threadIdx.x], 4);  // BUG
    __pipeline_commit();
    __syncthreads();
    y[threadIdx.x] = row[127 - threadIdx.x];  // BUG
}
