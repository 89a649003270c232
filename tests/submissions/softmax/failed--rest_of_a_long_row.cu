// Rows longer than 4,096 elements are cut: the registers hold no more.
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: softmax_kept<<<rows, THREADS>>>(out, in, cols)

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

#define EACH 16  // elements that a thread keeps

// For rows of at most EACH * THREADS elements.
__global__ void __launch_bounds__(THREADS) softmax_kept(float* out, const float* in, int cols)
{
    const float* x = in + (size_t)blockIdx.x * cols;
    float* y = out + (size_t)blockIdx.x * cols;
    float kept[EACH], highest = -FLT_MAX, sum = 0.0f;
    #pragma unroll
    for (int j = 0; j < EACH; j++) {
        int col = j * THREADS + threadIdx.x;
        kept[j] = col < cols ? x[col] : -INFINITY;
    }
    #pragma unroll
    for (int j = 0; j < EACH; j++) highest = fmaxf(highest, kept[j]);
    highest = max_of_block(highest);
    #pragma unroll
    for (int j = 0; j < EACH; j++) sum += kept[j] = __expf(kept[j] - highest);
    float factor = 1.0f / sum_of_block(sum);
    #pragma unroll
    for (int j = 0; j < EACH; j++) {
        int col = j * THREADS + threadIdx.x;
        if (col < cols) y[col] = kept[j] * factor;
    }
}
