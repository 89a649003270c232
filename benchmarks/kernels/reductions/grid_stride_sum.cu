// The sum of all numbers: a grid-stride loop of 528 blocks, shuffles, and an atomic per block.
// run: --size n=4194304 --input x=normal:n --output sum=index:1
// run: --size n=67108864 --input x=normal:n --output sum=index:1
// launch: grid_stride_sum<<<528, 256>>>(sum, x, n)

#define THREADS 256

// The sum of the values of all threads of a block, for thread 0.
__device__ float add_block(float mine)
{
    __shared__ float partial[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, distance);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = mine;
    __syncthreads();
    float sum = 0.0f;
    if (threadIdx.x == 0)
        for (int warp = 0; warp < THREADS / 32; warp++)
            sum += partial[warp];
    return sum;
}

__global__ void grid_stride_sum(float* sum, const float* x, int n)
{
    float mine = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        mine += x[i];
    const float all = add_block(mine);
    if (threadIdx.x == 0)
        atomicAdd(sum, all);
}
