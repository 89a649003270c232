// The twin of blocks_exchange_results.
// in: float a[128]
// out: float t[128]
// out: float y[128]
// launch: twice<<<4, 32>>>(t, a)
// launch: shift<<<4, 32>>>(y, t)
extern "C" __global__ void twice(float* t, const float* a) {
    int i = blockIdx.x * 32 + threadIdx.x;
    t[i] = 2.0f * a[i];
}
extern "C" __global__ void shift(float* y, const float* t) {
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = t[(i + 96) % 128];
}
