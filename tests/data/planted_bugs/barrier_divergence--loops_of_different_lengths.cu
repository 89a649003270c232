// Threads go through a loop with a barrier differently often.
// in: float a[64]
// out: float y[64]
// launch: loops<<<1, 64>>>(y, a)
extern "C" __global__ void loops(float* y, const float* a) {
    __shared__ float row[64];
    row[threadIdx.x] = a[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < 1 + threadIdx.x % 3; ++i) {
        __syncthreads();  // BUG
        row[threadIdx.x] += 1.0f;
    }
    __syncthreads();  // BUG
    y[threadIdx.x] = row[threadIdx.x];
}
