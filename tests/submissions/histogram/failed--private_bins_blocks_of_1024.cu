// Bins of each block, and blocks of 1,024 threads with one element each: a quarter as many sums of blocks.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<ceil_div(n, 1024), 1024>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * 1024 + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < BINS) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
