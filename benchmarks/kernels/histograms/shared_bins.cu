// A histogram of 256 bins, a copy per block in shared memory; each block then adds its bins to
// global memory. `used` bins get all numbers: 1 is the worst case.
// run: --size n=4194304 --size used=256 --input x=index:n:uint32 --output bins=index:256:uint32
// run: --size n=33554432 --size used=256 --input x=index:n:uint32 --output bins=index:256:uint32
// run: --size n=4194304 --size used=16 --input x=index:n:uint32 --output bins=index:256:uint32
// run: --size n=4194304 --size used=1 --input x=index:n:uint32 --output bins=index:256:uint32
// launch: shared_bins<<<528, 256>>>(bins, x, n, used)

#define BINS 256

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void shared_bins(unsigned* bins, const unsigned* x, unsigned n, unsigned used)
{
    __shared__ unsigned counts[BINS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[mix(x[i]) & (used - 1)], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
