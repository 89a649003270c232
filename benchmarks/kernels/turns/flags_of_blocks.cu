// A barrier of the grid by a flag for each block, which the first block reads.
// run: --size blocks=132 --size rounds=500 --size phases=16 --output y=float32:256*blocks
// run: --size blocks=256 --size rounds=100 --size phases=32 --output y=float32:256*blocks
// run: --size blocks=64 --size rounds=10 --size phases=64 --output y=float32:256*blocks
// scratch: int flags[blocks]
// scratch: int go[1]
// launch: cudaMemset(flags, 0, 4 * blocks)
// launch: cudaMemset(go, 0, 4)
// launch: flags_of_blocks<<<blocks, 256>>>(y, flags, go, rounds, phases)

__device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = 1.01f * x + 0.5f;
    return x;
}

__global__ void flags_of_blocks(float* y, volatile int* flags, volatile int* go, int rounds, int phases)
{
    float x = threadIdx.x;
    for (int phase = 1; phase <= phases; phase++) {
        x = work(x, rounds);
        __threadfence();
        __syncthreads();
        if (blockIdx.x == 0) {
            if (threadIdx.x > 0 && threadIdx.x < gridDim.x)
                while (flags[threadIdx.x] < phase)
                    ;
            __syncthreads();
            if (threadIdx.x == 0)
                go[0] = phase;
        } else if (threadIdx.x == 0) {
            flags[blockIdx.x] = phase;
            while (go[0] < phase)
                ;
        }
        __syncthreads();
    }
    y[blockIdx.x * 256 + threadIdx.x] = x;
}
