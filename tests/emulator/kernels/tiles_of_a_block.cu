// Cooperative groups: tiles of 8 and 16 lanes, their shuffles, votes and reductions.
// in: a int32[128] = small
// out: y int32[768]
// launch: run<<<1, 128>>>(y, a)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void run(int* y, const int* a)
{
    const auto block = cg::this_thread_block();
    const auto eight = cg::tiled_partition<8>(block);
    const auto sixteen = cg::tiled_partition<16>(block);
    const int i = threadIdx.x;
    int v = a[i];
    for (int k = eight.size() / 2; k > 0; k /= 2) v += eight.shfl_down(v, k);
    y[i] = v;
    eight.sync();
    y[128 + i] = eight.all(a[i] > -8) + 2 * eight.any(a[i] == 3);
    y[256 + i] = cg::reduce(sixteen, a[i], cg::plus<int>());
    y[384 + i] = sixteen.ballot(a[i] & 1) + sixteen.match_any(a[i] >> 2);
    y[512 + i] = sixteen.meta_group_rank() & 1 ? sixteen.shfl(v, 5) : 0;
    block.sync();
    y[640 + i] = cg::reduce(sixteen, a[i], cg::greater<int>());
}
