// A row of a matrix is stored by the lanes of a warp, two and two to one element.
// in: float a[32]
// out: float y[16]
// launch: halve<<<1, 32>>>(y, a)
extern "C" __global__ void halve(float* y, const float* a) {
    y[threadIdx.x / 2] = 2.0f * a[threadIdx.x];  // BUG
}
