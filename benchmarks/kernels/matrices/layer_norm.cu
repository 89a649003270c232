// Each row less its mean, over its deviation: a block per row, which it reads three times.
// run: --size h=4096 --size w=768 --input x=normal:h,w --output y=float32:h,w
// run: --size h=16384 --size w=4096 --input x=normal:h,w --output y=float32:h,w
// launch: layer_norm<<<h, 256>>>(y, x, w)

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

__global__ void layer_norm(float* y, const float* x, int w)
{
    const float* row = x + (size_t)blockIdx.x * w;
    float sum = 0.0f, squares = 0.0f;
    for (int k = threadIdx.x; k < w; k += THREADS)
        sum += row[k];
    const float mean = add_block(sum) / w;
    for (int k = threadIdx.x; k < w; k += THREADS)
        squares += (row[k] - mean) * (row[k] - mean);
    const float scale = rsqrtf(add_block(squares) / w + 1.0e-5f);
    for (int k = threadIdx.x; k < w; k += THREADS)
        y[(size_t)blockIdx.x * w + k] = (row[k] - mean) * scale;
}
