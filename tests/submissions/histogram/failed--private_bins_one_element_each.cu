// Bins of each block in shared memory, but a block counts only 256 elements before it adds 256 bins.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<ceil_div(n, THREADS), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
