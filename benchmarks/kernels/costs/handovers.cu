// Two warps take turns: each arrives at the other's barrier object and waits for its own. Or one warp alone.
// run: --size turns=1000 --size threads=64 --output y=float32:132*threads
// run: --size turns=1000 --size threads=32 --output y=float32:132*threads
// launch: handovers<<<132, threads>>>(y, turns)

__device__ unsigned address_of(const void* place) { return (unsigned)__cvta_generic_to_shared(place); }

__device__ void set_up(unsigned long long* object, int threads)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(object)), "r"(threads) : "memory");
}

__device__ void expect(unsigned long long* object, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(object)), "r"(bytes) : "memory");
}

__device__ void arrive(unsigned long long* object)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(object)) : "memory");
}

__device__ void wait_for(unsigned long long* object, unsigned parity)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(address_of(object)), "r"(parity) : "memory");
}

__global__ void handovers(float* y, int turns)
{
    __shared__ unsigned long long objects[2];
    if (threadIdx.x == 0)
        for (int k = 0; k < 2; k++)
            set_up(&objects[k], 32);
    __syncthreads();
    const int warp = threadIdx.x / 32, other = blockDim.x / 32 - 1 - warp;
    for (int k = 0; k < turns; k++) {
        if (warp == 1)
            wait_for(&objects[warp], k % 2);
        arrive(&objects[other]);
        if (warp == 0)
            wait_for(&objects[warp], k % 2);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = turns;
}
