// Two groups of copies are under way, and the kernel waits for the first one only.
// in: float a[128]
// out: float y[64]
// launch: load<<<1, 64>>>(y, a)
#include <cuda_pipeline.h>
extern "C" __global__ void load(float* y, const float* a) {
    __shared__ float row[2][64];
    __pipeline_memcpy_async(&row[0][threadIdx.x], &a[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&row[1][threadIdx.x], &a[64 + threadIdx.x], 4);  // BUG
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float sum = row[0][63 - threadIdx.x];
    y[threadIdx.x] = sum + row[1][63 - threadIdx.x];  // BUG
}
