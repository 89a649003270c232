// The twin of scan_in_place.
// in: int a[128]
// out: int y[128]
// launch: scan<<<1, 128, 512>>>(y, a)
extern "C" __global__ void scan(int* y, const int* a) {
    extern __shared__ int line[];
    line[threadIdx.x] = a[threadIdx.x];
    for (int reach = 1; reach < 128; reach *= 2) {
        __syncthreads();
        int before = threadIdx.x >= reach ? line[threadIdx.x - reach] : 0;
        __syncthreads();
        line[threadIdx.x] += before;
    }
    y[threadIdx.x] = line[threadIdx.x];
}
