// Each block works while it has a lock, by compare-and-swap.
// run: --size blocks=132 --size rounds=500 --output y=float32:1
// run: --size blocks=528 --size rounds=100 --output y=float32:1
// run: --size blocks=32 --size rounds=2000 --output y=float32:1
// scratch: int lock[1]
// launch: cudaMemset(lock, 0, 4)
// launch: spin_lock<<<blocks, 128>>>(y, lock, rounds)

__device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = 1.01f * x + 0.5f;
    return x;
}

__global__ void spin_lock(float* y, int* lock, int rounds)
{
    if (threadIdx.x == 0)
        while (atomicCAS(lock, 0, 1) != 0)
            ;
    __syncthreads();
    const float x = work(threadIdx.x, rounds);
    if (x == -1.0f)
        y[0] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
