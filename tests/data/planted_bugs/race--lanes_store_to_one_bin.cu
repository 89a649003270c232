// Lanes of one store leave different values in one bin of shared memory: which one stays is undefined.
// in: int a[32]
// out: int y[8]
// launch: last<<<1, 32>>>(y, a)
extern "C" __global__ void last(int* y, const int* a) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[a[threadIdx.x] % 8] = threadIdx.x;  // BUG
    __syncthreads();
    if (threadIdx.x < 8) y[threadIdx.x] = bins[threadIdx.x];
}
