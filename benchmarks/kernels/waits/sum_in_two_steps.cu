// A sum in one launch: sums of blocks, a barrier of the grid as cooperative groups have it, and one block adds these.
// run: --size n=4194304 --size blocks=132 --input x=normal:n --output y=float32:1
// run: --size n=33554432 --size blocks=528 --input x=normal:n --output y=float32:1
// run: --size n=1048576 --size blocks=1056 --input x=normal:n --output y=float32:1
// scratch: float sums[blocks]
// scratch: unsigned arrived[1]
// launch: cudaMemset(arrived, 0, 4)
// launch: sum_in_two_steps<<<blocks, 256>>>(y, x, sums, arrived, n)

__device__ void sync_grid(unsigned* arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned own = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
        unsigned before, now;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived), "r"(own) : "memory");
        do
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
        while (((before ^ now) & 0x80000000u) == 0);
    }
    __syncthreads();
}

__device__ float sum_block(float sum)
{
    __shared__ float warps[8];
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xFFFFFFFF, sum, lane);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int warp = 0; warp < 8; warp++)
        sum += warps[warp];
    __syncthreads();
    return sum;
}

__global__ void sum_in_two_steps(float* y, const float* x, float* sums, unsigned* arrived, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += x[i];
    sum = sum_block(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
    sync_grid(arrived);
    if (blockIdx.x != 0)
        return;
    sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256)
        sum += __ldcg(&sums[i]);
    sum = sum_block(sum);
    if (threadIdx.x == 0)
        y[0] = sum;
}
