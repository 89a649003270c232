// Each column is normalised, not each row.
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: softmax<<<ceil_div(cols, WARPS), THREADS>>>(out, in, rows, cols)

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

__global__ void softmax(float* out, const float* in, int rows, int cols)
{
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    int col0 = row;
    if (col0 >= cols) return;
    const float* x = in + col0;
    float* y = out + col0;
    float highest = -FLT_MAX;
    for (int col = lane; col < rows; col += 32) highest = fmaxf(highest, x[(size_t)col * cols]);
    highest = max_of_warp(highest);
    float sum = 0.0f;
    for (int col = lane; col < rows; col += 32) sum += expf(x[(size_t)col * cols] - highest);
    sum = sum_of_warp(sum);
    for (int col = lane; col < rows; col += 32) y[(size_t)col * cols] = expf(x[(size_t)col * cols] - highest) / sum;
}
