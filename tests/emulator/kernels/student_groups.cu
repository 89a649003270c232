// Cooperative groups of a block: tiles of 4 to 32, coalesced threads, labeled partitions, scans, votes of tiles.
// in: a int32[256] = random
// out: y int32[1280]
// out: z int32[512]
// inout: c int32[8] = zeros
// launch: tiles<<<2, 128>>>(y, a)
// launch: coalesced<<<2, 128>>>(z, c, a)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <int N> __device__ int tile_sum(cg::thread_block block, int v) {
    auto tile = cg::tiled_partition<N>(block);
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    return tile.shfl(v, 0) + tile.any(v < 0) + 2 * tile.all(v > 0) + (int)tile.ballot(v & 1);
}
__global__ void tiles(int *y, const int *a) {
    auto block = cg::this_thread_block();
    int i = block.group_index().x * block.size() + block.thread_rank(), v = a[i];
    y[i] = tile_sum<4>(block, v);
    y[256 + i] = tile_sum<16>(block, v);
    auto warp = cg::tiled_partition<32>(block);
    y[512 + i] = cg::exclusive_scan(warp, v) ^ cg::inclusive_scan(warp, v, cg::bit_xor<int>());
    y[768 + i] = cg::reduce(cg::tiled_partition<8>(warp), v, cg::greater<int>()) + warp.match_any(v & 3);
    y[1024 + i] = cg::reduce(warp, v, cg::less<int>()) + block.thread_index().x + block.dim_threads().x;
    block.sync();
}
__global__ void coalesced(int *z, int *c, const int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i];
    z[i] = -1;
    z[256 + i] = -2;
    if (v & 1) {
        auto active = cg::coalesced_threads();
        z[i] = active.size() * 100 + active.thread_rank() + active.shfl(v & 0xff, 0);
        if (active.thread_rank() == 0) atomicAdd(c, (int)active.size());
    }
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto same = cg::labeled_partition(warp, v & 3);
    z[256 + i] = cg::reduce(same, v & 0xffff, cg::plus<int>()) + same.size();
}
