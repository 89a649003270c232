// An increment without an atomic operation: of several threads that add at the same time, one wins.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<ceil_div(n, THREADS), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) counts[in[i]]++;
}
