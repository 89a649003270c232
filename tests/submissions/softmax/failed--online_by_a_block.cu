// A block per row: one loop finds maximum and sum, a second reads the row again: rung 4 of the ladder.
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: softmax<<<rows, THREADS>>>(out, in, rows, cols)

__device__ float max_of_warp(float value)
{
    for (int apart = 16; apart > 0; apart /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, apart));
    return value;
}

__device__ float sum_of_warp(float value)
{
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
    return value;
}

__device__ float max_of_block(float value)
{
    __shared__ float values[WARPS];
    value = max_of_warp(value);
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    return max_of_warp(values[threadIdx.x % WARPS]);
}

__device__ float sum_of_block(float value)
{
    __shared__ float values[WARPS];
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int i = 0; i < WARPS; i++) value += values[i];
    return value;
}

__global__ void softmax(float* out, const float* in, int rows, int cols)
{
    const float* x = in + (size_t)blockIdx.x * cols;
    float* y = out + (size_t)blockIdx.x * cols;
    float highest = -FLT_MAX, sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        float before = highest;
        highest = fmaxf(highest, x[col]);
        sum = sum * expf(before - highest) + expf(x[col] - highest);
    }
    float most = max_of_block(highest);
    sum = sum_of_block(sum * __expf(highest - most));
    for (int col = threadIdx.x; col < cols; col += THREADS) y[col] = __expf(x[col] - most) / sum;
}
