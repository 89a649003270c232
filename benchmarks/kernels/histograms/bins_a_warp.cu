// A histogram of 256 bins, in shared memory one per warp, which the block adds up at the end.
// run: --size n=4194304 --size used=256 --input x=index:n:uint32 --output bins=index:256:uint32
// run: --size n=33554432 --size used=256 --input x=index:n:uint32 --output bins=index:256:uint32
// run: --size n=4194304 --size used=4 --input x=index:n:uint32 --output bins=index:256:uint32
// launch: bins_a_warp<<<528, 256>>>(bins, x, n, used)

#define BINS 256

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

#define WARPS 8

__global__ void bins_a_warp(unsigned* bins, const unsigned* x, unsigned n, unsigned used)
{
    __shared__ unsigned counts[WARPS][BINS];
    for (int warp = 0; warp < WARPS; warp++)
        counts[warp][threadIdx.x] = 0;
    __syncthreads();
    const int warp = threadIdx.x / 32;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[warp][mix(x[i]) & (used - 1)], 1u);
    __syncthreads();
    unsigned count = 0;
    for (int warp = 0; warp < WARPS; warp++)
        count += counts[warp][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], count);
}
