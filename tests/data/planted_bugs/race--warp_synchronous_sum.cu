// The last warp adds up through volatile shared memory without __syncwarp(): wrong since Volta.
// in: float a[64]
// out: float y[1]
// launch: total<<<1, 64>>>(y, a)
extern "C" __global__ void total(float* y, const float* a) {
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = a[t];
    __syncthreads();
    if (t < 32) {
        volatile float* s = sums;
        s[t] += s[t + 32];  // BUG
        s[t] += s[t + 16];  // BUG
        s[t] += s[t + 8];  // BUG
        s[t] += s[t + 4];  // BUG
        s[t] += s[t + 2];  // BUG
        s[t] += s[t + 1];  // BUG
    }
    if (t == 0) y[0] = sums[0];
}
