// Sums that shared memory has no instruction for are built by compare-and-swap, and read while others still add.
// in: float a[256]
// out: float y[32]
// launch: weigh<<<1, 256>>>(y, a)
extern "C" __global__ void weigh(float* y, const float* a) {
    __shared__ float bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0.0f;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 32], a[threadIdx.x]);  // BUG
    if (threadIdx.x >= 224) y[threadIdx.x - 224] = bins[(threadIdx.x + 1) % 32];  // BUG
}
