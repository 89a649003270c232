// Private bins, a grid-stride loop, an int4 per step.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<min(1056, ceil_div(n, THREADS)), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const int4* quads = (const int4*)in;
    int first = blockIdx.x * THREADS + threadIdx.x;
    for (int i = first; i < n / 4; i += gridDim.x * THREADS) {
        int4 some = quads[i];
        atomicAdd(&bins[some.x], 1);
        atomicAdd(&bins[some.y], 1);
        atomicAdd(&bins[some.z], 1);
        atomicAdd(&bins[some.w], 1);
    }
    if (first < n % 4) atomicAdd(&bins[in[n / 4 * 4 + first]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
