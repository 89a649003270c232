// Reference solution of the exercise "softmax": each row is read once and stays in registers.
//
// An element needs 8 bytes of memory traffic and one exponential, so the memory must always be busy.
//
//   - A block has a row. A thread loads up to QUADS float4 of it, all in flight at the same time, and keeps them.
//   - Each thread finds its own maximum and its own sum of exponentials: the only exponential per element. A pair
//     (maximum, sum) merges with another pair by one factor per pair. So maximum and sum need a single exchange between
//     the threads: shuffles within a warp, one pair per warp in shared memory, one barrier.
//   - The last factor corrects the thread's exponentials to the row's maximum and divides them by the row's sum.
//   - A row that is too long for the registers, or that does not consist of whole float4, is read twice.

#include <cfloat>

#define THREADS 256
#define QUADS 4  // float4 that a thread keeps
#define WARPS (THREADS / 32)
#define LONGEST (4 * QUADS * THREADS)  // elements of a row that a block can keep

// launch: if (cols % 4 == 0 && cols <= LONGEST) softmax_kept<<<rows, THREADS>>>(out, in, cols / 4);
// launch: else softmax_any<<<rows, THREADS>>>(out, in, cols);

// The maximum of some elements, and the sum of their exp(x - highest). Without elements: -FLT_MAX and 0. -infinity in
// its place would give exp(-infinity + infinity), which is NaN.
struct Part {
    float highest, sum;
};

// Merges the parts of groups of LANES lanes; all lanes of a group get the result.
template <int LANES>
__device__ Part merge_lanes(Part part)
{
    float highest = part.highest;
    #pragma unroll
    for (int apart = LANES / 2; apart > 0; apart /= 2)
        highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, apart));
    float sum = part.sum * __expf(part.highest - highest);
    #pragma unroll
    for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    return {highest, sum};
}

// Merges the parts of all threads of the block; all threads get the result.
__device__ Part merge_block(Part part)
{
    __shared__ Part parts[WARPS];
    part = merge_lanes<32>(part);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;  // survives: all lanes of the warp have the same part
    __syncthreads();
    return merge_lanes<WARPS>(parts[threadIdx.x % WARPS]);
}

// For rows of `count` float4, at most QUADS * THREADS.
__global__ void __launch_bounds__(THREADS) softmax_kept(float* out, const float* in, int count)
{
    const float4* x = reinterpret_cast<const float4*>(in) + (size_t)blockIdx.x * count;
    float4* y = reinterpret_cast<float4*>(out) + (size_t)blockIdx.x * count;
    float4 kept[QUADS];
    Part part = {-FLT_MAX, 0.0f};
    #pragma unroll
    for (int j = 0; j < QUADS; j++) {  // survives: beyond the array, so the compiler drops it
        int i = j * THREADS + threadIdx.x;
        kept[j] = i < count ? __ldcs(&x[i]) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    }
    #pragma unroll
    for (int j = 0; j < QUADS; j++)
        part.highest = fmaxf(part.highest, fmaxf(fmaxf(kept[j].x, kept[j].y), fmaxf(kept[j].z, kept[j].w)));
    #pragma unroll
    for (int j = 0; j < QUADS; j++) {
        float4& e = kept[j];
        e = {__expf(e.x - part.highest), __expf(e.y - part.highest), __expf(e.z - part.highest), __expf(e.w - part.highest)};
        part.sum += (e.x + e.y) + (e.z + e.w);
    }
    Part all = merge_block(part);
    float factor = __expf(part.highest - all.highest) / all.sum;
    #pragma unroll
    for (int j = 0; j < QUADS; j++) {  // survives: as above
        int i = j * THREADS + threadIdx.x;
        float4 e = kept[j];
        if (i < count) __stcs(&y[i], make_float4(e.x * factor, e.y * factor, e.z * factor, e.w * factor));
    }
}

// For any row: one loop finds the maximum and the sum, a second loop reads the row again.
__global__ void __launch_bounds__(THREADS) softmax_any(float* out, const float* in, int cols)
{
    const float* x = in + (size_t)blockIdx.x * cols;
    float* y = out + (size_t)blockIdx.x * cols;
    Part part = {-FLT_MAX, 0.0f};
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        float highest = fmaxf(part.highest, x[col]);
        part = {highest, part.sum * __expf(part.highest - highest) + __expf(x[col] - highest)};
    }
    Part all = merge_block(part);
    float factor = 1.0f / all.sum;
    for (int col = threadIdx.x; col < cols; col += THREADS) y[col] = __expf(x[col] - all.highest) * factor;
}
