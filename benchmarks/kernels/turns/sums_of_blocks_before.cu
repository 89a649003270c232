// Prefix sums of the sums of blocks, each from the block before it, as a scan in one launch has them.
// run: --size n=1048576 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --input x=normal:n --output y=float32:n
// scratch: float sums[n / 1024]
// scratch: int ready[n / 1024]
// launch: cudaMemset(ready, 0, n / 256)
// launch: sums_of_blocks_before<<<n / 1024, 1024>>>(y, x, sums, ready)

__global__ void sums_of_blocks_before(float* y, const float* x, volatile float* sums, volatile int* ready)
{
    __shared__ float warps[32], before;
    const int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = x[i];
    for (int step = 1; step < 32; step *= 2) {
        const float other = __shfl_up_sync(0xFFFFFFFF, sum, step);
        sum += lane >= step ? other : 0.0f;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        float all = warps[lane];
        for (int step = 1; step < 32; step *= 2) {
            const float other = __shfl_up_sync(0xFFFFFFFF, all, step);
            all += lane >= step ? other : 0.0f;
        }
        warps[lane] = all;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float from = 0;
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0)
                ;
            __threadfence();
            from = sums[blockIdx.x - 1];
        }
        sums[blockIdx.x] = from + warps[31];
        __threadfence();
        ready[blockIdx.x] = 1;
        before = from;
    }
    __syncthreads();
    y[i] = before + (warp > 0 ? warps[warp - 1] : 0.0f) + sum;
}
