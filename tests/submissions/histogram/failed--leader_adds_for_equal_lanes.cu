// Aggregation in the warp: __match_any_sync finds equal lanes, and one of them adds their number.

#define BINS 256
#define THREADS 256

// launch: cudaMemset(counts, 0, BINS * sizeof(int))
// launch: histogram<<<min(1056, ceil_div(n, THREADS)), THREADS>>>(counts, in, n)

__global__ void histogram(int* counts, const int* in, int n)
{
    __shared__ int bins[BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        unsigned equal = __match_any_sync(__activemask(), in[i]);
        if (threadIdx.x % 32 == __ffs(equal) - 1) atomicAdd(&bins[in[i]], __popc(equal));
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
