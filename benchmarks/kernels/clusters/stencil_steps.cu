// Steps of a one-dimensional stencil on the shared memory of a cluster of 8 blocks: neighbours read
// each other's borders after each step.
// run: --size n=4194304 --size steps=32 --input x=normal:n --output y=float32:n
// run: --size n=1048576 --size steps=256 --input x=normal:n --output y=float32:n
// launch: stencil_steps<<<n / 1024, 256>>>(y, x, steps)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(8, 1, 1) stencil_steps(float* y, const float* x, int steps)
{
    __shared__ float now[1024], next[1024];
    auto cluster = cooperative_groups::this_cluster();
    const int rank = cluster.block_rank();
    const float* left = cluster.map_shared_rank(now, (rank + 7) % 8);
    const float* right = cluster.map_shared_rank(now, (rank + 1) % 8);
    for (int k = threadIdx.x; k < 1024; k += 256)
        now[k] = x[blockIdx.x * 1024 + k];
    cluster.sync();
    for (int step = 0; step < steps; step++) {
        for (int k = threadIdx.x; k < 1024; k += 256) {
            const float before = k > 0 ? now[k - 1] : left[1023], after = k < 1023 ? now[k + 1] : right[0];
            next[k] = 0.25f * before + 0.5f * now[k] + 0.25f * after;
        }
        cluster.sync();
        for (int k = threadIdx.x; k < 1024; k += 256)
            now[k] = next[k];
        cluster.sync();
    }
    for (int k = threadIdx.x; k < 1024; k += 256)
        y[blockIdx.x * 1024 + k] = now[k];
}
