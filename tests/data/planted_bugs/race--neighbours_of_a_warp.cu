// Lanes read their neighbours' elements right after they stored their own: one warp, but nothing waits.
// in: float a[32]
// out: float y[32]
// launch: turn<<<1, 32>>>(y, a)
extern "C" __global__ void turn(float* y, const float* a) {
    __shared__ float kept[32];
    kept[threadIdx.x] = a[threadIdx.x];  // BUG
    y[threadIdx.x] = kept[31 - threadIdx.x];  // BUG
}
