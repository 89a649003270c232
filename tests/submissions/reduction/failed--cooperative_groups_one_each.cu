// cooperative_groups' reduce, one element a thread.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define THREADS 256
// scratch: float partial[ceil_div(n, THREADS)]
// launch: block_sums<<<ceil_div(n, THREADS), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, ceil_div(n, THREADS))

__device__ float add_up(float value)
{
    __shared__ float sums[THREADS / 32];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    value = cg::reduce(warp, value, cg::plus<float>());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = value;
    cg::this_thread_block().sync();
    return cg::reduce(warp, warp.thread_rank() < THREADS / 32 ? sums[warp.thread_rank()] : 0.0f, cg::plus<float>());
}

__global__ void block_sums(float* partial, const float* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = add_up(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void total(float* out, const float* partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) out[0] = sum;
}
