// Lanes of each warp that arrive at their warp's own barrier object. y: cycles of a turn.
// run: --size turns=200 --size blocks=132 --size threads=32 --size lanes=1 --output y=float32:blocks*threads
// run: --size turns=200 --size blocks=132 --size threads=1024 --size lanes=1 --output y=float32:blocks*threads
// run: --size turns=200 --size blocks=132 --size threads=1024 --size lanes=32 --output y=float32:blocks*threads
// launch: object_arrivals<<<blocks, threads>>>(y, turns, lanes)

__device__ unsigned address_of(const void* place) { return (unsigned)__cvta_generic_to_shared(place); }

__global__ void object_arrivals(float* y, int turns, int lanes)
{
    __shared__ unsigned long long objects[32];
    const unsigned own = address_of(&objects[threadIdx.x / 32]);
    if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(own), "r"(lanes) : "memory");
    __syncthreads();
    long long start = clock64();
    if (threadIdx.x % 32 < lanes)
#pragma unroll 1
        for (int k = 0; k < turns; k++)
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(own) : "memory");
    __syncwarp();
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns;
}
