// The twin of lanes_store_to_one_bin: lanes that meet in a bin store the same value.
// in: int a[32]
// out: int y[8]
// launch: seen<<<1, 32>>>(y, a)
extern "C" __global__ void seen(int* y, const int* a) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[a[threadIdx.x] % 8] = a[threadIdx.x] % 8 + 1;
    __syncthreads();
    if (threadIdx.x < 8) y[threadIdx.x] = bins[threadIdx.x];
}
