// Warps that test the phase of their own barrier object, which has ended. y: cycles of a turn.
// run: --size turns=200 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=200 --size blocks=132 --size threads=128 --output y=float32:blocks*threads
// run: --size turns=200 --size blocks=132 --size threads=512 --output y=float32:blocks*threads
// run: --size turns=200 --size blocks=132 --size threads=1024 --output y=float32:blocks*threads
// launch: object_tests<<<blocks, threads>>>(y, turns)

__device__ unsigned address_of(const void* place) { return (unsigned)__cvta_generic_to_shared(place); }

__global__ void object_tests(float* y, int turns)
{
    __shared__ unsigned long long objects[32];
    const unsigned own = address_of(&objects[threadIdx.x / 32]);
    if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;\n"
                     "mbarrier.arrive.shared.b64 _, [%0];" ::"r"(own) : "memory");
    __syncthreads();
    int ended = 0;
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        asm volatile("{ .reg .pred p; .reg .s32 one;\n"
                     "mbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n"
                     "selp.s32 one, 1, 0, p;\n"
                     "add.s32 %0, %0, one; }" : "+r"(ended) : "r"(own) : "memory");
    y[blockIdx.x * blockDim.x + threadIdx.x] = ended == turns ? float(clock64() - start) / turns : 0.0f;
}
