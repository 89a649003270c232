// A histogram of 4,096 bins, one per block in 16 KB of shared memory, and then in global memory.
// run: --size n=4194304 --size used=4096 --input x=index:n:uint32 --output bins=index:4096:uint32
// run: --size n=33554432 --size used=4096 --input x=index:n:uint32 --output bins=index:4096:uint32
// run: --size n=16777216 --size used=32 --input x=index:n:uint32 --output bins=index:4096:uint32
// launch: shared_bins_4096<<<264, 512>>>(bins, x, n, used)

#define BINS 4096

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void shared_bins_4096(unsigned* bins, const unsigned* x, unsigned n, unsigned used)
{
    __shared__ unsigned counts[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        counts[bin] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[mix(x[i]) & (used - 1)], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        atomicAdd(&bins[bin], counts[bin]);
}
