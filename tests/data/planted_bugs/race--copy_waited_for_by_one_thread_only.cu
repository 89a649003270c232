// Each thread waits for its own copies, and reads those of others.
// in: float a[128]
// out: float y[128]
// launch: load<<<1, 128>>>(y, a)
#include <cuda_pipeline.h>
extern "C" __global__ void load(float* y, const float* a) {
    __shared__ float row[128];
    __pipeline_memcpy_async(&row[threadIdx.x], &a[threadIdx.x], 4);  // BUG
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = row[127 - threadIdx.x];  // BUG
}
