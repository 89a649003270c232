// The Euclidean norm of a vector in two launches: squares by 1,024 blocks, and one block that adds
// their sums.
// run: --size n=4194304 --input x=normal:n --output length=float32:1
// run: --size n=33554432 --input x=normal:n --output length=float32:1
// scratch: float squares[1024]
// launch: add_squares<<<1024, 256>>>(squares, x, n)
// launch: root_of_sum<<<1, 256>>>(length, squares, 1024)

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

__global__ void add_squares(float* squares, const float* x, int n)
{
    float mine = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        mine += x[i] * x[i];
    const float all = add_block(mine);
    if (threadIdx.x == 0)
        squares[blockIdx.x] = all;
}

__global__ void root_of_sum(float* length, const float* squares, int n)
{
    float mine = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS)
        mine += squares[i];
    const float all = add_block(mine);
    if (threadIdx.x == 0)
        *length = sqrtf(all);
}
