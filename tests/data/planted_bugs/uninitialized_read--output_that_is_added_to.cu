// Outputs do not start at zero.
// in: float a[64]
// out: float y[64]
// launch: add<<<2, 32>>>(y, a)
extern "C" __global__ void add(float* y, const float* a) {
    y[blockIdx.x * 32 + threadIdx.x] += a[blockIdx.x * 32 + threadIdx.x];  // BUG
}
