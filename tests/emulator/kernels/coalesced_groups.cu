// Cooperative groups of the lanes that are there: rank, shuffle, reduction; partitions by label and by truth.
// in: a int32[64] = small
// out: y int32[448]
// launch: run<<<1, 64>>>(y, a)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void run(int* y, const int* a)
{
    const int i = threadIdx.x;
    for (int k = i; k < 448; k += 64) y[k] = 0;
    if (i % 3 == 0) {
        const auto here = cg::coalesced_threads();
        y[i] = here.thread_rank() * 100 + here.size();
        y[64 + i] = here.shfl(a[i], 1);
        y[128 + i] = cg::reduce(here, a[i], cg::plus<int>());
    }
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const auto label = cg::labeled_partition(tile, a[i] & 3);
    y[192 + i] = label.size();
    y[256 + i] = cg::reduce(label, i, cg::plus<int>());
    const auto truth = cg::binary_partition(tile, a[i] > 0);
    y[320 + i] = cg::reduce(truth, i, cg::less<int>());
    y[384 + i] = truth.thread_rank();
}
