// Cooperative groups: tiles, reductions, coalesced threads, labelled partitions, block barriers.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void use_groups(int *result)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int t = block.thread_rank();
    int sum = cg::reduce(tile, t, cg::plus<int>());
    int prefix = cg::inclusive_scan(tile, 1);
    int count = 0;
    if (t % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        count = active.size() * 100 + active.thread_rank();
    }
    auto warp = cg::tiled_partition<32>(block);
    auto same = cg::labeled_partition(warp, t % 4);
    int largest = cg::reduce(same, t, cg::greater<int>());
    result[4 * t] = sum + tile.meta_group_rank();
    result[4 * t + 1] = prefix;
    result[4 * t + 2] = count;
    result[4 * t + 3] = largest;
    block.sync();
    if (t == 0)
        result[0] += tile.any(t > 100) + 10 * tile.all(true);
}

int main()
{
    int *x, host[256];
    CHECK(cudaMalloc(&x, sizeof(host)));
    use_groups<<<1, 64>>>(x);
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    for (int t : {0, 1, 9, 33, 63})
        printf("%d: %d %d %d %d\n", t, host[4 * t], host[4 * t + 1], host[4 * t + 2],
               host[4 * t + 3]);
    CHECK(cudaFree(x));
    return 0;
}
