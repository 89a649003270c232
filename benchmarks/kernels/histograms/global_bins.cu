// A histogram in global memory: an atomic for each number. `used` bins get all of them.
// run: --size n=4194304 --size used=16 --output bins=index:used:uint32
// run: --size n=4194304 --size used=256 --output bins=index:used:uint32
// run: --size n=16777216 --size used=4096 --output bins=index:used:uint32
// run: --size n=1048576 --size used=1 --output bins=index:used:uint32
// launch: global_bins<<<ceil_div(n, 256), 256>>>(bins, n, used)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void global_bins(unsigned* bins, unsigned n, unsigned used)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[mix(i) & (used - 1)], 1u);
}
