// A histogram of 17 small integers in global memory, by a grid of 1,056 blocks.
// run: --size n=1048576 --input x=small_integers:n:int32 --output bins=index:17:int32
// run: --size n=8388608 --input x=small_integers:n:int32 --output bins=index:17:int32
// launch: global_skewed<<<1056, 256>>>(bins, x, n)

__global__ void global_skewed(int* bins, const int* x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[x[i] + 8], 1);
}
