// A histogram of 17 small integers, one per block in shared memory: most lanes meet another one.
// run: --size n=4194304 --input x=small_integers:n:int32 --output bins=index:17:int32
// run: --size n=33554432 --input x=small_integers:n:int32 --output bins=index:17:int32
// launch: shared_skewed<<<528, 256>>>(bins, x, n)

#define BINS 17

__global__ void shared_skewed(int* bins, const int* x, int n)
{
    __shared__ int counts[BINS];
    if (threadIdx.x < BINS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i] + 8], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
