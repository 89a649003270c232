// All lanes of a warp read the count of a queue, and one clears it for the next round without waiting for the others.
// in: int a[128]
// out: int y[128]
// launch: pack<<<1, 32>>>(y, a)
extern "C" __global__ void pack(int* y, const int* a) {
    __shared__ int queue[32];
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncwarp();
    for (int round = 0; round < 4; ++round) {
        int value = a[round * 32 + threadIdx.x];
        if (value % 2) queue[atomicAdd(&count, 1)] = value;
        __syncwarp();
        int found = count;  // BUG
        if (threadIdx.x == 0) count = 0;  // BUG
        y[round * 32 + threadIdx.x] = threadIdx.x < found ? queue[threadIdx.x] : 0;
        __syncwarp();
    }
}
