// cuda::pipeline whose stages the whole block shares: all threads fill and read them, or some fill
// and others read.
// in: a int32[2048] = small
// out: y int32[1024]
// out: z int32[1024]
// launch: together<<<1, 128>>>(y, a, 8)
// launch: roles<<<1, 128>>>(z, a, 16)
#include <cuda/pipeline>
#include <cooperative_groups.h>

__global__ void together(int* y, const int* a, int tiles)
{
    constexpr int stages = 2;
    __shared__ int s[stages][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int i = threadIdx.x;
    for (int next = 0, tile = 0; tile < tiles; ++tile) {
        for (; next < tiles && next < tile + stages; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[next % stages][i], a + 128 * next + i, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        y[128 * tile + i] = s[tile % stages][i ^ 33] + tile;
        pipe.consumer_release();
    }
}

__global__ void roles(int* z, const int* a, int tiles)
{
    constexpr int stages = 2;
    __shared__ int s[stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cooperative_groups::this_thread_block();
    const bool fills = threadIdx.x < 64;
    const auto role = fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    const int i = threadIdx.x & 63;
    for (int tile = 0; tile < tiles; ++tile) {
        if (fills) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[tile % stages][i], a + 64 * tile + i, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            z[64 * tile + i] = s[tile % stages][i ^ 33] - tile;
            pipe.consumer_release();
        }
    }
}
