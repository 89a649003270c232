// Each block works when its ticket's turn has come.
// run: --size blocks=132 --size rounds=500 --output y=float32:1
// run: --size blocks=528 --size rounds=100 --output y=float32:1
// run: --size blocks=1056 --size rounds=10 --output y=float32:1
// scratch: int counters[2]
// launch: cudaMemset(counters, 0, 8)
// launch: tickets<<<blocks, 128>>>(y, counters, rounds)

__device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = 1.01f * x + 0.5f;
    return x;
}

__global__ void tickets(float* y, int* counters, int rounds)
{
    volatile int* turn = counters + 1;
    if (threadIdx.x == 0) {
        const int own = atomicAdd(counters, 1);
        while (*turn != own)
            ;
    }
    __syncthreads();
    const float x = work(threadIdx.x, rounds);
    if (x == -1.0f)
        y[0] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *turn = *turn + 1;
    }
}
