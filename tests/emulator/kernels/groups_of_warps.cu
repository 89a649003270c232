// Cooperative groups: tiles of several warps, which meet in shared memory that the system reserves.
// in: a int32[512] = small
// in: b float64[512] = small
// out: y int32[1536]
// out: z float64[1024]
// counters: ignored
// launch: run<<<2, 256>>>(y, z, a, b)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__shared__ cg::block_tile_memory<256> scratch;
__global__ void run(int* y, double* z, const int* a, const double* b)
{
    const auto block = cg::this_thread_block(scratch);
    const auto pair = cg::tiled_partition<64>(block);
    const auto four = cg::tiled_partition<128>(block);
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = cg::reduce(pair, a[i], cg::plus<int>());
    y[512 + i] = cg::inclusive_scan(four, a[i], cg::plus<int>());
    z[i] = cg::reduce(four, b[i], cg::greater<double>());
    pair.sync();
    y[1024 + i] = four.shfl(a[i], 70) + four.any(a[i] == 3) + 2 * pair.all(a[i] > -8);
    z[512 + i] = cg::exclusive_scan(pair, b[i]);
}
