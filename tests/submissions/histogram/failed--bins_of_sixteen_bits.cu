// Bins of 16 bits, two in each word: a bin that counts more than 65,535 elements runs over into its neighbour.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<min(132, ceil_div(n, THREADS)), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ unsigned bins[BINS / 2];
    if (threadIdx.x < BINS / 2) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&bins[in[i] / 2], in[i] % 2 ? 65536u : 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], (int)(bins[threadIdx.x / 2] >> 16 * (threadIdx.x % 2) & 65535u));
}
