// The twin of scratch_half_filled.
// in: float a[64]
// out: float t[64]
// out: float y[32]
// launch: fill<<<1, 32>>>(t, a)
// launch: use<<<1, 32>>>(y, t)
extern "C" __global__ void fill(float* t, const float* a) { t[2 * threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void use(float* y, const float* t) {
    y[threadIdx.x] = t[2 * threadIdx.x] + 1.0f;
}
