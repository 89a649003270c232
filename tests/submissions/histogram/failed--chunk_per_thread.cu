// Private bins; each thread counts a chunk of neighbouring elements, so that the lanes of a warp are far apart.
// expect without a model: passed, only a clock tells (uncoalesced reads cost only time here)

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<ceil_div(n, 64 * THREADS), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int first = 64 * (blockIdx.x * THREADS + threadIdx.x);
    for (int i = first; i < first + 64 && i < n; i++) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
