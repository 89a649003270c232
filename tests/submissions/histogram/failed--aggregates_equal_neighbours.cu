// Aggregation: a thread adds a run of equal elements of its four int4 at once.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<min(1056, ceil_div(n, THREADS)), THREADS>>>(counts, in, n)

__device__ void count(int* bins, int value, int* last, int* run)
{
    if (value == *last) {
        ++*run;
        return;
    }
    if (*run) atomicAdd(&bins[*last], *run);
    *last = value;
    *run = 1;
}

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const int4* quads = (const int4*)in;
    int first = blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS, last = 0, run = 0;
    int i = first;
    for (; i + 3 * stride < n / 4; i += 4 * stride) {
        int4 some[4];
        #pragma unroll
        for (int j = 0; j < 4; j++) some[j] = quads[i + j * stride];
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            count(bins, some[j].x, &last, &run);
            count(bins, some[j].y, &last, &run);
            count(bins, some[j].z, &last, &run);
            count(bins, some[j].w, &last, &run);
        }
    }
    for (; i < n / 4; i += stride) {
        int4 some = quads[i];
        count(bins, some.x, &last, &run);
        count(bins, some.y, &last, &run);
        count(bins, some.z, &last, &run);
        count(bins, some.w, &last, &run);
    }
    if (first < n % 4) count(bins, in[n / 4 * 4 + first], &last, &run);
    if (run) atomicAdd(&bins[last], run);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
