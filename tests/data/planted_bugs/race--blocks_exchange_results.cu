// A block reads what the next block has, or has not yet, written.
// in: float a[128]
// out: float t[128]
// out: float y[128]
// launch: shift<<<4, 32>>>(y, t, a)
extern "C" __global__ void shift(float* y, float* t, const float* a) {
    int i = blockIdx.x * 32 + threadIdx.x;
    t[i] = 2.0f * a[i];  // BUG
    __syncthreads();
    y[i] = t[(i + 96) % 128];  // BUG
}
