// Bins are read while other threads still count.
// in: int a[256]
// out: int y[64]
// launch: count<<<1, 256>>>(y, a)
extern "C" __global__ void count(int* y, const int* a) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[a[threadIdx.x] % 64], 1);  // BUG
    if (threadIdx.x < 64) y[threadIdx.x] = bins[threadIdx.x];  // BUG
}
