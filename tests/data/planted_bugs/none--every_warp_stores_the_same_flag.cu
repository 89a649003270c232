// All who find one store the same value: harmless, and common.
// in: int a[128]
// out: int y[128]
// launch: any<<<1, 128>>>(y, a)
extern "C" __global__ void any(int* y, const int* a) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (a[threadIdx.x] % 2 == 0) found = 1;
    __syncthreads();
    y[threadIdx.x] = found;
}
