// Cycles of a barrier of the grid, as cooperative groups have it.
// run: --size turns=100 --size threads=32 --size blocks=2 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=32 --size blocks=16 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=32 --size blocks=132 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=256 --size blocks=132 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=1024 --size blocks=132 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=256 --size blocks=264 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=256 --size blocks=528 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=128 --size blocks=1056 --output y=float32:blocks*threads
// run: --size turns=100 --size threads=64 --size blocks=2112 --output y=float32:blocks*threads
// scratch: unsigned arrived[1]
// launch: cudaMemset(arrived, 0, 4)
// launch: grid_barriers<<<blocks, threads>>>(y, arrived, turns)

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

__global__ void grid_barriers(float* y, unsigned* arrived, int turns)
{
    sync_grid(arrived);
    const long long start = clock64();
    for (int k = 0; k < turns; k++)
        sync_grid(arrived);
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)(clock64() - start) / turns;
}
