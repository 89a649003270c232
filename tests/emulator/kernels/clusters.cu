// Thread-block clusters: blocks read, write and add to each other's shared memory, in one and two
// dimensions; what they know of themselves; an object that other blocks arrive at.
// in: a int32[512] = small
// out: y int32[512]
// out: z int32[256]
// out: r uint32[256]
// out: w int32[256]
// launch: neighbours<<<8, 64>>>(y, a)
// launch: histogram<<<dim3(4, 2), 32>>>(z, a)
// launch: places<<<dim3(4, 4, 1), 1>>>(r)
// launch: objects<<<4, 64>>>(w, a)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) neighbours(int* y, const int* a)
{
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    const int i = threadIdx.x;
    s[i] = a[64 * blockIdx.x + i];
    for (int k = 0; k < 3; ++k) {
        cluster.sync();
        const int value = *cluster.map_shared_rank(&s[63 - i], (rank + 1) % size);
        cluster.sync();
        *cluster.map_shared_rank(&s[i], (rank + 3) % size) = value + k;
    }
    cluster.sync();
    y[64 * blockIdx.x + i] = s[i] + 1000 * rank;
}

__global__ void __cluster_dims__(2, 2, 1) histogram(int* z, const int* a)
{
    __shared__ int bins[32];
    auto cluster = cg::this_cluster();
    const int i = threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;
    bins[i] = 0;
    cluster.sync();
    for (int k = 0; k < 2; ++k) {
        const unsigned value = a[64 * block + 32 * k + i] + 64;
        atomicAdd(cluster.map_shared_rank(&bins[value % 32], value / 32 % 4), 1);
    }
    cluster.sync();
    z[32 * block + i] = bins[i];
}

__global__ void __cluster_dims__(2, 2, 1) places(unsigned* r)
{
    auto cluster = cg::this_cluster();
    unsigned* mine = r + 16 * (blockIdx.y * gridDim.x + blockIdx.x);
    const dim3 index = cluster.block_index(), extent = cluster.dim_blocks();
    mine[0] = cluster.block_rank();
    mine[1] = cluster.num_blocks();
    mine[2] = index.x;
    mine[3] = index.y;
    mine[4] = index.z;
    mine[5] = extent.x;
    mine[6] = extent.y;
    mine[7] = extent.z;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(mine[8]));
    asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(mine[9]));
    asm volatile("mov.u32 %0, %%clusterid.z;" : "=r"(mine[10]));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(mine[11]));
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(mine[12]));
    asm volatile("mov.u32 %0, %%nclusterid.z;" : "=r"(mine[13]));
    mine[14] = cluster.thread_rank();
    mine[15] = cluster.num_threads();
}

__global__ void __cluster_dims__(2, 1, 1) objects(int* w, const int* a)
{
    __shared__ alignas(8) unsigned long long b;
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), at = __cvta_generic_to_shared(&b);
    const int i = threadIdx.x;
    if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    cluster.sync();
    *cluster.map_shared_rank(&s[i], rank ^ 1) = a[64 * blockIdx.x + i];
    unsigned other;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(at), "r"(rank ^ 1));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other)
                 : "memory");
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(at) : "memory");
    w[64 * blockIdx.x + i] = s[63 - i] + 5;
    cluster.sync();
}
