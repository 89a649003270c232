// Adds integers to random words of shared memory: of 64, or of 4,096.
// run: --size blocks=1056 --size rounds=64 --size words=64 --output sums=uint32:256*blocks
// run: --size blocks=1056 --size rounds=64 --size words=4096 --output sums=uint32:256*blocks
// launch: random_counters<<<blocks, 256>>>(sums, rounds, words)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void random_counters(unsigned* sums, int rounds, int words)
{
    __shared__ unsigned counts[4096];
    for (int k = threadIdx.x; k < 4096; k += blockDim.x)
        counts[k] = 0;
    __syncthreads();
    for (int k = 0; k < rounds; k++)
        atomicAdd(&counts[mix(threadIdx.x * rounds + k) & (words - 1)], 1u);
    __syncthreads();
    sums[blockIdx.x * blockDim.x + threadIdx.x] = counts[threadIdx.x & (words - 1)];
}
