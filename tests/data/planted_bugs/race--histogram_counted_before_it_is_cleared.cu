// Bins are counted in while other threads still clear them.
// in: int a[256]
// out: int y[64]
// launch: count<<<1, 256>>>(y, a)
extern "C" __global__ void count(int* y, const int* a) {
    __shared__ int bins[64];
    if (threadIdx.x >= 192) bins[threadIdx.x - 192] = 0;  // BUG
    atomicAdd(&bins[a[threadIdx.x] % 64], 1);  // BUG
    __syncthreads();
    if (threadIdx.x < 64) y[threadIdx.x] = bins[threadIdx.x];
}
