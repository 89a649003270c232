// Cooperative groups by their headers; labelled and binary partitions, coalesced groups, scans and reductions of tiles, copies into shared memory by a block and by tiles.
// levels: 3
// in: a int32[512] = small
// in: b float64[128] = normal
// out: y int32[1536]
// out: z float64[256]
// launch: run<<<1, 128>>>(y, z, a, b)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
__global__ void run(int* y, double* z, const int* a, const double* b)
{
    __shared__ __align__(16) int room[512];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto four = cg::tiled_partition<4>(warp);
    const int i = threadIdx.x;
    cg::memcpy_async(block, room, a, cuda::aligned_size_t<16>(sizeof(room)));
    cg::wait(block);
    y[i] = room[511 - i];
    const auto label = cg::labeled_partition(warp, a[i] & 3);
    y[128 + i] = 100 * label.num_threads() + label.thread_rank();
    y[256 + i] = cg::reduce(label, a[i], cg::plus<int>());
    const auto odd = cg::binary_partition(warp, a[i] > 0);
    y[384 + i] = odd.shfl(a[i], 0) + 1000 * odd.num_threads();
    y[512 + i] = cg::inclusive_scan(odd, a[i]);
    z[i] = cg::reduce(warp, b[i], cg::plus<double>());
    z[128 + i] = cg::exclusive_scan(four, b[i], cg::less<double>());
    if (i % 3 == 0) {
        const auto here = cg::coalesced_threads();
        y[640 + i] = cg::reduce(here, a[i], cg::bit_xor<int>()) + here.meta_group_size();
        y[768 + i] = cg::exclusive_scan(here, 1);
    } else {
        y[640 + i] = y[768 + i] = 0;
    }
    block.sync();
    cg::memcpy_async(warp, room + 128 * warp.meta_group_rank(), a + 3 * warp.meta_group_rank(), sizeof(int) * 100);
    cg::wait(warp);
    y[896 + i] = room[128 * warp.meta_group_rank() + (3 * i & 63)];
    int best = a[i];
    cg::invoke_one(four, [&] { best += 100; });
    y[1024 + i] = four.shfl(best, 0) + four.shfl_xor(best, 1);
    y[1152 + i] = cg::reduce(warp, (unsigned)a[i], cg::bit_and<unsigned>());
    y[1280 + i] = warp.match_any(a[i]);
    y[1408 + i] = block.group_index().x + block.thread_rank() + block.num_threads();
}
