// cooperative_groups: this_thread_block().sync(), thread ranks, a tiled partition. Only a clock tells: 78 % of the peak on an H100.
// expect without a model: passed, only a clock tells (78 % of an H100's peak bandwidth, 80 % are asked)
// expect with a model: passed, too close to call
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// launch: grouped<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void grouped(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int lane = warp.thread_rank(), first = warp.meta_group_rank(), step = warp.meta_group_size();
    const dim3 group = block.group_index();
    for (int j = first; j < 32; j += step)
        if (group.x * 32 + lane < cols && group.y * 32 + j < rows)
            tile[j][lane] = in[(size_t)(group.y * 32 + j) * cols + group.x * 32 + lane];
    warp.sync();
    block.sync();
    for (int j = first; j < 32; j += step)
        if (group.y * 32 + lane < rows && group.x * 32 + j < cols)
            out[(size_t)(group.x * 32 + j) * rows + group.y * 32 + lane] = tile[lane][j];
}
