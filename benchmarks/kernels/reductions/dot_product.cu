// The dot product of two vectors: four numbers of each at once, and an atomic per block.
// run: --size n=4194304 --input x=normal:n --input y=normal:n --output dot=index:1
// run: --size n=33554432 --input x=normal:n --input y=normal:n --output dot=index:1
// launch: dot_product<<<1056, 256>>>(dot, x, y, n / 4)

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

__global__ void dot_product(float* dot, const float4* x, const float4* y, int quads)
{
    float mine = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < quads; i += gridDim.x * THREADS) {
        const float4 a = x[i], b = y[i];
        mine += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    const float all = add_block(mine);
    if (threadIdx.x == 0)
        atomicAdd(dot, all);
}
