// Reductions of a block in the ways that students write them: interleaved, sequential, unrolled by a template, with shuffles, cg::reduce.
// in: a float32[1024] = small
// out: y float32[40]
// launch: interleaved<<<8, 128>>>(y, a)
// launch: sequential<128><<<8, 128>>>(y, a)
// launch: shuffles<<<8, 128>>>(y, a)
// launch: groups<<<8, 128>>>(y, a)
// launch: grid_stride<<<8, 64>>>(y, a, 1024)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void interleaved(float *y, const float *a) {
    __shared__ float s[128];
    s[threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (threadIdx.x % (2 * step) == 0) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}

template <int N> __device__ void last_warp(volatile float *s, int t) {
    if (N >= 64) s[t] += s[t + 32];
    __syncwarp();
    s[t] += s[t + 16];
    __syncwarp();
    s[t] += s[t + 8];
    __syncwarp();
    s[t] += s[t + 4];
    __syncwarp();
    s[t] += s[t + 2];
    __syncwarp();
    s[t] += s[t + 1];
}

template <int N> __global__ void sequential(float *y, const float *a) {
    __shared__ float s[N + 32];
    s[threadIdx.x] = a[blockIdx.x * N + threadIdx.x];
    if (threadIdx.x < 32) s[N + threadIdx.x] = 0;
    __syncthreads();
    if (N >= 128 && threadIdx.x < 64) s[threadIdx.x] += s[threadIdx.x + 64];
    __syncthreads();
    if (threadIdx.x < 32) last_warp<N>(s, threadIdx.x);
    if (threadIdx.x == 0) y[8 + blockIdx.x] = s[0];
}
template __global__ void sequential<128>(float *, const float *);

__global__ void shuffles(float *y, const float *a) {
    __shared__ float part[32];
    float v = a[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
        for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
        if (threadIdx.x == 0) y[16 + blockIdx.x] = v;
    }
}

__global__ void groups(float *y, const float *a) {
    __shared__ float part[4];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float v = cg::reduce(warp, a[blockIdx.x * block.size() + block.thread_rank()], cg::plus<float>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v;
    block.sync();
    if (block.thread_rank() == 0) y[24 + blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

__global__ void grid_stride(float *y, const float *a, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += a[i];
    __shared__ float s[64];
    s[threadIdx.x] = v;
    for (int step = blockDim.x / 2; step; step >>= 1) {
        __syncthreads();
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
    }
    if (!threadIdx.x) y[32 + blockIdx.x] = s[0];
}
