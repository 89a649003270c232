// Reference solution of the exercise "histogram": private bins in shared memory, many int4 per thread.
//
// Counting needs no arithmetic to speak of, so the memory must always be busy.
//
//   - Each block has bins of its own in shared memory. It adds them to the global ones once, at its end.
//   - The grid is not larger than the GPU: each thread counts some hundred elements of a large input.
//   - A thread loads EACH int4 before it counts the first of their elements.

#define BINS 256
#define THREADS 512
#define BLOCKS 528  // 4 for each of the 132 multiprocessors of an H100
#define EACH 4      // int4 that a thread has in flight

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<min(BLOCKS, ceil_div(n, 4 * EACH * THREADS)), THREADS>>>(counts, in, n)

__device__ void count(int* bins, int4 some)
{
    atomicAdd(&bins[some.x], 1);
    atomicAdd(&bins[some.y], 1);
    atomicAdd(&bins[some.z], 1);
    atomicAdd(&bins[some.w], 1);
}

__global__ void __launch_bounds__(THREADS) histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) bins[bin] = 0;
    __syncthreads();

    const int4* quads = reinterpret_cast<const int4*>(in);
    const int quad_count = n / 4, stride = gridDim.x * THREADS, first = blockIdx.x * THREADS + threadIdx.x;
    int i = first;
    for (; i < quad_count - (EACH - 1) * stride; i += EACH * stride) {
        int4 some[EACH];
        #pragma unroll
        for (int j = 0; j < EACH; j++) some[j] = quads[i + j * stride];
        #pragma unroll
        for (int j = 0; j < EACH; j++) count(bins, some[j]);
    }
    for (; i < quad_count; i += stride) count(bins, quads[i]);
    if (first < n - 4 * quad_count) atomicAdd(&bins[in[4 * quad_count + first]], 1);

    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) atomicAdd(&counts[bin], bins[bin]);
}
