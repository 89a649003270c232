// Rows of which the length is no multiple of 4 are read as float4 too.
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: if (cols <= 4096) softmax_kept<<<min(rows, 1056), THREADS>>>(out, in, rows, ceil_div(cols, 4));
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

#define QUADS 4  // float4 that a thread keeps

__device__ float largest(float4 e) { return fmaxf(fmaxf(e.x, e.y), fmaxf(e.z, e.w)); }

__global__ void __launch_bounds__(THREADS) softmax_kept(float* out, const float* in, int rows, int count)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float4* x = reinterpret_cast<const float4*>(in) + (size_t)row * count;
        float4* y = reinterpret_cast<float4*>(out) + (size_t)row * count;
        float4 kept[QUADS];
        float highest = -FLT_MAX, sum = 0.0f;
        #pragma unroll
        for (int j = 0; j < QUADS; j++) {
            int i = j * THREADS + threadIdx.x;
            kept[j] = i < count ? x[i] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        }
        #pragma unroll
        for (int j = 0; j < QUADS; j++) highest = fmaxf(highest, largest(kept[j]));
        highest = max_of_block(highest);
        #pragma unroll
        for (int j = 0; j < QUADS; j++) {
            float4& e = kept[j];
            e = {__expf(e.x - highest), __expf(e.y - highest), __expf(e.z - highest), __expf(e.w - highest)};
            sum += (e.x + e.y) + (e.z + e.w);
        }
        float factor = 1.0f / sum_of_block(sum);
        #pragma unroll
        for (int j = 0; j < QUADS; j++) {
            int i = j * THREADS + threadIdx.x;
            float4 e = kept[j];
            if (i < count) y[i] = {e.x * factor, e.y * factor, e.z * factor, e.w * factor};
        }
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
