// A warp keeps its row in registers, 32 float4 per lane: no shared memory, no barrier.
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: if (cols % 4 == 0 && cols <= 4096) softmax_kept<<<ceil_div(rows, 4), 128>>>(out, in, rows, cols / 4);
// launch: else softmax_long<<<rows, THREADS>>>(out, in, rows, cols);

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

#define QUADS 32  // float4 that a lane keeps

__global__ void __launch_bounds__(128) softmax_kept(float* out, const float* in, int rows, int count)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float4* x = reinterpret_cast<const float4*>(in) + (size_t)row * count;
    float4* y = reinterpret_cast<float4*>(out) + (size_t)row * count;
    float4 kept[QUADS];
    float highest = -FLT_MAX, sum = 0.0f;
    #pragma unroll
    for (int j = 0; j < QUADS; j++)
        kept[j] = lane + 32 * j < count ? x[lane + 32 * j] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    #pragma unroll
    for (int j = 0; j < QUADS; j++)
        highest = fmaxf(highest, fmaxf(fmaxf(kept[j].x, kept[j].y), fmaxf(kept[j].z, kept[j].w)));
    highest = max_of_warp(highest);
    #pragma unroll
    for (int j = 0; j < QUADS; j++) {
        float4& e = kept[j];
        e = {__expf(e.x - highest), __expf(e.y - highest), __expf(e.z - highest), __expf(e.w - highest)};
        sum += (e.x + e.y) + (e.z + e.w);
    }
    float factor = 1.0f / sum_of_warp(sum);
    #pragma unroll
    for (int j = 0; j < QUADS; j++) {
        float4 e = kept[j];
        if (lane + 32 * j < count) y[lane + 32 * j] = {e.x * factor, e.y * factor, e.z * factor, e.w * factor};
    }
}

__global__ void softmax_long(float* out, const float* in, int rows, int cols)
{
    const float* x = in + (size_t)blockIdx.x * cols;
    float* y = out + (size_t)blockIdx.x * cols;
    float highest = -FLT_MAX, sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += THREADS) highest = fmaxf(highest, x[col]);
    highest = max_of_block(highest);
    for (int col = threadIdx.x; col < cols; col += THREADS) sum += expf(x[col] - highest);
    sum = sum_of_block(sum);
    for (int col = threadIdx.x; col < cols; col += THREADS) y[col] = expf(x[col] - highest) / sum;
}
