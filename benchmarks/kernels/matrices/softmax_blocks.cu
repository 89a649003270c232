// The softmax of each row by a block, in three passes over it: maximum, sum, quotient.
// run: --size h=4096 --size w=1024 --input x=normal:h,w --output y=float32:h,w
// run: --size h=8192 --size w=8192 --input x=normal:h,w --output y=float32:h,w
// launch: softmax_blocks<<<h, 256>>>(y, x, w)

#define THREADS 256

// The sum of the values of all threads of a block, for all of them.
__device__ float add_block(float mine)
{
    __shared__ float partial[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = mine;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++)
        sum += partial[warp];
    return sum;
}

// The largest value of all threads of a block, for all of them.
__device__ float max_block(float mine)
{
    __shared__ float partial[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, distance));
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int warp = 0; warp < THREADS / 32; warp++)
        mine = fmaxf(mine, partial[warp]);
    return mine;
}

__global__ void softmax_blocks(float* y, const float* x, int w)
{
    const float* row = x + (size_t)blockIdx.x * w;
    float largest = -1.0e30f, sum = 0.0f;
    for (int k = threadIdx.x; k < w; k += THREADS)
        largest = fmaxf(largest, row[k]);
    largest = max_block(largest);
    for (int k = threadIdx.x; k < w; k += THREADS)
        sum += __expf(row[k] - largest);
    const float scale = 1.0f / add_block(sum);
    for (int k = threadIdx.x; k < w; k += THREADS)
        y[(size_t)blockIdx.x * w + k] = __expf(row[k] - largest) * scale;
}
