// Lanes of one warp add to one bin: all read it, all store, and all but one of the values are lost.
// in: int a[32]
// out: int y[4]
// launch: count<<<1, 32>>>(y, a)
extern "C" __global__ void count(int* y, const int* a) {
    if (threadIdx.x < 4) y[threadIdx.x] = 0;
    __syncwarp();
    y[a[threadIdx.x] % 4] += a[threadIdx.x];  // BUG
}
