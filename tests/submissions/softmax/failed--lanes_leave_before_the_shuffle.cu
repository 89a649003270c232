// Lanes without elements leave before the shuffles that name all lanes.
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: softmax<<<ceil_div(rows, WARPS), THREADS>>>(out, in, rows, cols)

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
    if (row >= rows || lane >= cols) return;
    const float* x = in + (size_t)row * cols;
    float* y = out + (size_t)row * cols;
    float highest = -FLT_MAX;
    for (int col = lane; col < cols; col += 32) highest = fmaxf(highest, x[col]);
    highest = max_of_warp(highest);
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32) sum += expf(x[col] - highest);
    sum = sum_of_warp(sum);
    for (int col = lane; col < cols; col += 32) y[col] = expf(x[col] - highest) / sum;
}
