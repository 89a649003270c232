// A histogram of 32 bins without atomics: each thread has bins of its own, a column in shared
// memory.
// run: --size n=4194304 --input x=index:n:uint32 --output bins=index:32:uint32
// run: --size n=33554432 --input x=index:n:uint32 --output bins=index:32:uint32
// launch: columns_a_thread<<<528, 256>>>(bins, x, n)

#define BINS 32
#define THREADS 256

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void columns_a_thread(unsigned* bins, const unsigned* x, unsigned n)
{
    __shared__ unsigned counts[BINS][THREADS];
    for (int bin = 0; bin < BINS; bin++)
        counts[bin][threadIdx.x] = 0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        counts[mix(x[i]) % BINS][threadIdx.x]++;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (int bin = threadIdx.x / 32; bin < BINS; bin += THREADS / 32) {
        unsigned count = 0;
        for (int thread = lane; thread < THREADS; thread += 32)
            count += counts[bin][thread];
        count = __reduce_add_sync(0xffffffffu, count);
        if (lane == 0)
            atomicAdd(&bins[bin], count);
    }
}
