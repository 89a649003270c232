// As many blocks as an H100 holds, floats in strides one at a time, and shuffles: rung 6 of the handout. At least 64 elements per thread.
// expect without a model: passed, only a clock tells (58 % of the peak on the model, 70 % are asked)
#define THREADS 256
#define MOST_BLOCKS 1056
// scratch: float partial[MOST_BLOCKS]
// launch: block_sums<<<min(MOST_BLOCKS, ceil_div(n, 16384)), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, min(MOST_BLOCKS, ceil_div(n, 16384)))

__device__ float add_up(float value)
{
    __shared__ float sums[THREADS / 32];
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(0xffffffffu, value, apart);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32)
        for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(0xffffffffu, value, apart);
    return value;
}

__global__ void block_sums(float* partial, const float* in, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += in[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void total(float* out, const float* partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) out[0] = sum;
}
