// One half of the threads skips the barrier.
// in: float a[64]
// out: float y[64]
// launch: half<<<1, 64>>>(y, a)
extern "C" __global__ void half(float* y, const float* a) {
    __shared__ float row[64];
    row[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x % 2 == 0) {
        row[threadIdx.x] += 1.0f;
        __syncthreads();  // BUG
        row[threadIdx.x] *= row[threadIdx.x ^ 2];
    }
    __syncthreads();  // BUG
    y[threadIdx.x] = row[63 - threadIdx.x];
}
