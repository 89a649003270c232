// A __syncwarp() behind each step is too few: a lane reads its partner's element while the partner stores its own sum there.
// in: float a[64]
// out: float y[1]
// launch: total<<<1, 32>>>(y, a)
extern "C" __global__ void total(float* y, const float* a) {
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = a[t];
    sums[t + 32] = a[t + 32];
    __syncwarp();
    for (int half = 32; half > 0; half /= 2) {
        sums[t] += sums[t + half];  // BUG
        __syncwarp();
    }
    if (t == 0) y[0] = sums[0];
}
