// Grids that synchronise, blocks that wait for others, barriers that are objects.
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

__global__ void grid_sum(int* y)
{
    cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank();
    for (int turn = 0; turn < 2; ++turn) {
        y[i] += turn;
        grid.sync();
        y[i] = y[(i + 33) % grid.size()] + 1;
        grid.sync();
    }
}

__global__ void look_back(volatile int* flags, int* y)
{
    const int b = blockIdx.x;
    if (threadIdx.x == 0) {
        int before = 0;
        if (b > 0)
            while ((before = flags[b - 1]) == 0) { }
        y[b] = before;
        __threadfence();
        flags[b] = before + 1;
    }
}

__global__ void lock(int* word, int* y)
{
    for (bool done = false; !done;)
        if (atomicCAS(word, 0, 1) == 0) {
            y[0] += threadIdx.x;
            __threadfence();
            atomicExch(word, 0);
            done = true;
        }
}

__global__ void phases(int* y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[64];
    const int i = threadIdx.x & 63;
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    s[i] = y[i];
    auto token = b.arrive();
    s[63 - i] += 3;
    b.wait(std::move(token));
    y[i] = s[(i + 7) & 63];
}
