// The exponentials are kept as halves.
#include <cuda_fp16.h>
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: softmax<<<rows, THREADS, cols * sizeof(float)>>>(out, in, rows, cols)

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
    extern __shared__ __half row[];
    const float* x = in + (size_t)blockIdx.x * cols;
    float* y = out + (size_t)blockIdx.x * cols;
    float highest = -FLT_MAX;
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        highest = fmaxf(highest, x[col]);
    }
    highest = max_of_block(highest);
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        row[col] = __float2half(__expf(x[col] - highest));
        sum += __half2float(row[col]);
    }
    float factor = 1.0f / sum_of_block(sum);
    for (int col = threadIdx.x; col < cols; col += THREADS) y[col] = __half2float(row[col]) * factor;
}
