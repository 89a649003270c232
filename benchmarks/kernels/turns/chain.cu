// Each block waits for its neighbour: the one before it, or the one after it.
// run: --size blocks=132 --size rounds=500 --size up=1 --output y=float32:128*blocks
// run: --size blocks=528 --size rounds=500 --size up=1 --output y=float32:128*blocks
// run: --size blocks=1056 --size rounds=10 --size up=1 --output y=float32:128*blocks
// run: --size blocks=132 --size rounds=500 --size up=0 --output y=float32:128*blocks
// run: --size blocks=528 --size rounds=50 --size up=0 --output y=float32:128*blocks
// scratch: int flags[blocks]
// launch: cudaMemset(flags, 0, 4 * blocks)
// launch: chain<<<blocks, 128>>>(y, flags, rounds, up)

__device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = 1.01f * x + 0.5f;
    return x;
}

__global__ void chain(float* y, volatile int* flags, int rounds, int up)
{
    const int place = up ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
    if (threadIdx.x == 0 && place > 0)
        while (flags[up ? blockIdx.x - 1 : blockIdx.x + 1] == 0)
            ;
    __syncthreads();
    y[blockIdx.x * 128 + threadIdx.x] = work(threadIdx.x, rounds);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
