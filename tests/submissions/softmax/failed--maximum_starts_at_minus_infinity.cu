// Lanes without elements have -infinity: infinity minus infinity is NaN.
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
    if (row >= rows) return;
    const float* x = in + (size_t)row * cols;
    float* y = out + (size_t)row * cols;
    float highest = -INFINITY, sum = 0.0f;
    for (int col = lane; col < cols; col += 32) {
        float before = highest;
        highest = fmaxf(highest, x[col]);
        sum = sum * expf(before - highest) + expf(x[col] - highest);
    }
    float most = max_of_warp(highest);
    sum = sum_of_warp(sum * expf(highest - most));
    for (int col = lane; col < cols; col += 32) y[col] = expf(x[col] - most) / sum;
}
