// The twin of warp_synchronous_sum: every step reads, waits, stores and waits.
// in: float a[64]
// out: float y[1]
// launch: total<<<1, 64>>>(y, a)
extern "C" __global__ void total(float* y, const float* a) {
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = a[t];
    __syncthreads();
    if (t < 32) {
        float v = sums[t] + sums[t + 32];
        for (int other = 16; other > 0; other /= 2) {
            __syncwarp();
            sums[t] = v;
            __syncwarp();
            v += sums[t ^ other];
        }
        if (t == 0) y[0] = v;
    }
}
