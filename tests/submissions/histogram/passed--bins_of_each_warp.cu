// Each warp has bins of its own: no two warps add to the same counter. int4, two in flight.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<min(1056, ceil_div(n, THREADS)), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[THREADS / 32][BINS];
    for (int i = threadIdx.x; i < THREADS / 32 * BINS; i += THREADS) bins[0][i] = 0;
    __syncthreads();
    int* own = bins[threadIdx.x / 32];
    const int4* quads = (const int4*)in;
    int first = blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS;
    for (int i = first; i < n / 4; i += 2 * stride) {
        int4 some = quads[i], more = i + stride < n / 4 ? quads[i + stride] : make_int4(-1, -1, -1, -1);
        atomicAdd(&own[some.x], 1);
        atomicAdd(&own[some.y], 1);
        atomicAdd(&own[some.z], 1);
        atomicAdd(&own[some.w], 1);
        if (more.x < 0) break;
        atomicAdd(&own[more.x], 1);
        atomicAdd(&own[more.y], 1);
        atomicAdd(&own[more.z], 1);
        atomicAdd(&own[more.w], 1);
    }
    if (first < n % 4) atomicAdd(&own[in[n / 4 * 4 + first]], 1);
    __syncthreads();
    int sum = 0;
    for (int warp = 0; warp < THREADS / 32; warp++) sum += bins[warp][threadIdx.x];
    atomicAdd(&counts[threadIdx.x], sum);
}
