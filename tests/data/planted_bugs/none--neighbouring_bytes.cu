// Threads of different warps store to bytes of one word.
// in: int a[128]
// out: int y[128]
// launch: bytes<<<1, 128>>>(y, a)
extern "C" __global__ void bytes(int* y, const int* a) {
    __shared__ unsigned char kept[128];
    int place = threadIdx.x % 32 * 4 + threadIdx.x / 32;
    kept[place] = a[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = kept[threadIdx.x];
}
