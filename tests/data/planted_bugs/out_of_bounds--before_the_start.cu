// The first thread reads the element before the first one.
// in: float a[64]
// out: float y[64]
// launch: shift<<<1, 64>>>(y, a)
extern "C" __global__ void shift(float* y, const float* a) {
    int i = threadIdx.x;
    y[i] = a[i - 1];  // BUG
}
