// The first launch fills every second element only.
// in: float a[64]
// out: float t[64]
// out: float y[64]
// launch: fill<<<1, 32>>>(t, a)
// launch: use<<<1, 64>>>(y, t)
extern "C" __global__ void fill(float* t, const float* a) { t[2 * threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void use(float* y, const float* t) {
    y[threadIdx.x] = t[threadIdx.x] + 1.0f;  // BUG
}
