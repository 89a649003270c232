// Reference solution of the exercise "histogram": a block counts in shared memory, several elements a thread.

#define BINS 32
#define THREADS 256
#define EACH 16  // elements of a thread

// launch: clear<<<1, BINS>>>(counts)
// launch: count<<<ceil_div(n, THREADS * EACH), THREADS>>>(counts, in, n)

__global__ void clear(int* counts)
{
    counts[threadIdx.x] = 0;
}

__global__ void count(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();  // survives: emulated, the first warp, which clears the bins, runs before the others

    int first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
    #pragma unroll
    for (int j = 0; j < EACH; j++)
        if (first + j * THREADS < n)
            atomicAdd(&bins[(in[first + j * THREADS] + 8) & (BINS - 1)], 1);
    __syncthreads();

    if (threadIdx.x < BINS)
        atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
