// One bin too few: the largest value is counted in the array behind.
// in: int a[64]
// out: int y[16]
// launch: histogram<<<1, 64>>>(y, a)
extern "C" __global__ void histogram(int* y, const int* a) {
    __shared__ int bins[17];
    __shared__ int offsets[17];
    if (threadIdx.x < 17) {
        bins[threadIdx.x] = 0;
        offsets[threadIdx.x] = 1;
    }
    __syncthreads();
    atomicAdd(&bins[a[threadIdx.x]], 1);  // BUG
    __syncthreads();
    if (threadIdx.x < 16) y[threadIdx.x] = bins[threadIdx.x] + offsets[threadIdx.x];
}
