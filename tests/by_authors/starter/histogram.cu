// Histogram: counts[b] is the number of elements whose bin (element + 8) % 32 is b.
//
// count_naive is the baseline, count is yours. Outputs hold anything at first, so clear makes the bins zero.

#define BINS 32
#define THREADS 256

// launch: clear<<<1, BINS>>>(counts)
// launch: count<<<ceil_div(n, THREADS), THREADS>>>(counts, in, n)

__global__ void clear(int* counts)
{
    counts[threadIdx.x] = 0;
}

__global__ void count_naive(int* counts, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[(in[i] + 8) % BINS], 1);
}

// Yours.
__global__ void count(int* counts, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[(in[i] + 8) % BINS], 1);
}
