// Four warps produce rows of numbers in shared memory, four warps add them; two barrier objects per buffer
// tell when a buffer is full and when it is empty.
// run: --size rounds=256 --size blocks=264 --output y=float32:blocks*128
// run: --size rounds=4096 --size blocks=264 --output y=float32:blocks*128
// run: --size rounds=512 --size blocks=1056 --output y=float32:blocks*128
// launch: handed_over<<<blocks, 256>>>(y, rounds)

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

__global__ void handed_over(float* y, int rounds)
{
    __shared__ float buffers[4][1024];
    __shared__ unsigned long long full[4], empty[4];
    const int t = threadIdx.x % 128;
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; k++) {
            set_up(&full[k], 128);
            set_up(&empty[k], 128);
        }
    __syncthreads();
    if (threadIdx.x < 128) {
        float value = blockIdx.x + 0.5f * t;
        for (int round = 0; round < rounds; round++) {
            wait_for(&empty[round % 4], (round / 4 + 1) % 2);
            for (int i = 0; i < 8; i++) {
                value = value * 0.999f + 0.25f;
                buffers[round % 4][i * 128 + t] = value;
            }
            arrive(&full[round % 4]);
        }
        return;
    }
    float sum = 0.0f;
    for (int round = 0; round < rounds; round++) {
        wait_for(&full[round % 4], round / 4 % 2);
        for (int i = 0; i < 8; i++)
            sum += buffers[round % 4][(i * 128 + 5 * t) % 1024];
        arrive(&empty[round % 4]);
    }
    y[blockIdx.x * 128 + t] = sum;
}
