// In each phase one block in `share` works; then all wait for each other.
// run: --size blocks=132 --size rounds=2000 --size share=1 --size phases=8 --output y=float32:128*blocks
// run: --size blocks=264 --size rounds=2000 --size share=2 --size phases=8 --output y=float32:128*blocks
// run: --size blocks=264 --size rounds=4000 --size share=8 --size phases=16 --output y=float32:128*blocks
// run: --size blocks=528 --size rounds=500 --size share=4 --size phases=32 --output y=float32:128*blocks
// scratch: unsigned arrived[1]
// launch: cudaMemset(arrived, 0, 4)
// launch: shares_of_phases<<<blocks, 128>>>(y, arrived, rounds, share, phases)

__device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = 1.01f * x + 0.5f;
    return x;
}

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

__global__ void shares_of_phases(float* y, unsigned* arrived, int rounds, int share, int phases)
{
    float x = threadIdx.x;
    for (int phase = 0; phase < phases; phase++) {
        if (blockIdx.x % share == phase % share)
            x = work(x, rounds);
        sync_grid(arrived);
    }
    y[blockIdx.x * 128 + threadIdx.x] = x;
}
