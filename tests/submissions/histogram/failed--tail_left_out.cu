// int4 without the last n % 4 elements.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<min(1056, ceil_div(n, THREADS)), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += gridDim.x * THREADS) {
        int4 some = ((const int4*)in)[i];
        atomicAdd(&bins[some.x], 1);
        atomicAdd(&bins[some.y], 1);
        atomicAdd(&bins[some.z], 1);
        atomicAdd(&bins[some.w], 1);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
