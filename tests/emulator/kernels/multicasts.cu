// Copies to several blocks of a cluster at once, and to another one: of consecutive bytes, and of
// boxes of a tensor.
// in: a int32[64] = small
// in: m int32[1024] = small
// map: m [32, 32] {"box": [4, 8]}
// out: y int32[512]
// out: z int32[512]
// out: w int32[192]
// levels: 1 3
// launch: bytes<<<8, 32>>>(y, a)
// launch: boxes<<<8, 32>>>(z, m)
// launch: remote<<<2, 32>>>(w, m, a)
#include <cooperative_groups.h>
#include <cuda.h>

__device__ unsigned address_of(const void* p) { return __cvta_generic_to_shared(p); }

__device__ unsigned in_block(unsigned address, unsigned rank)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

__device__ void expect(unsigned long long* object, unsigned bytes)
{
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(object)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                     ::"r"(address_of(object)), "r"(bytes) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cooperative_groups::this_cluster().sync();
}

__device__ void wait_for(unsigned long long* object)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(address_of(object)) : "memory");
}

// Each block gets 64 bytes of block 1 and 64 of block 2.
__global__ void __cluster_dims__(4) bytes(int* y, const int* a)
{
    __shared__ alignas(128) int s[64];
    __shared__ unsigned long long object;
    const unsigned i = threadIdx.x, rank = cooperative_groups::this_cluster().block_rank();
    s[i] = s[i + 32] = 99;
    expect(&object, rank % 2 ? 128 : 64);
    if (i == 0 && (rank == 1 || rank == 2))
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1], 64, [%2], %3;"
                     ::"r"(address_of(s + 16 * rank)), "l"(a + 16 * rank),
                       "r"(address_of(&object)), "h"(static_cast<short>(rank == 1 ? 15 : 10))
                     : "memory");
    wait_for(&object);
    y[64 * blockIdx.x + i] = s[i];
    y[64 * blockIdx.x + 32 + i] = s[32 + i];
    cooperative_groups::this_cluster().sync();
}

__global__ void __cluster_dims__(4) boxes(int* z, const __grid_constant__ CUtensorMap m)
{
    __shared__ alignas(128) int s[64];
    __shared__ unsigned long long object;
    const unsigned i = threadIdx.x, rank = cooperative_groups::this_cluster().block_rank();
    s[i] = s[i + 32] = 99;
    expect(&object, rank == 3 ? 256 : 128);
    if (i == 0 && rank % 3 == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1, {%2, %3}], [%4], %5;"
                     ::"r"(address_of(s + 32 * (rank / 3))), "l"(&m), "r"(28 - 4 * rank),
                       "r"(8 * (blockIdx.x / 4)), "r"(address_of(&object)),
                       "h"(static_cast<short>(rank == 0 ? 15 : 8)) : "memory");
    wait_for(&object);
    z[64 * blockIdx.x + i] = s[i];
    z[64 * blockIdx.x + 32 + i] = s[32 + i];
    cooperative_groups::this_cluster().sync();
}

__global__ void __cluster_dims__(2) remote(int* w, const __grid_constant__ CUtensorMap m,
                                           const int* a)
{
    __shared__ alignas(128) int s[96];
    __shared__ unsigned long long object;
    const unsigned i = threadIdx.x, rank = cooperative_groups::this_cluster().block_rank();
    for (int k = 0; k < 3; ++k) s[32 * k + i] = 100 * rank + i;
    expect(&object, rank == 0 ? 256 : 64);
    if (i == 0 && rank == 1) {
        const unsigned to = in_block(address_of(s), 0), at = in_block(address_of(&object), 0);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], 128, [%2];" ::"r"(to), "l"(a), "r"(at) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(to + 128), "l"(&m), "r"(4), "r"(2), "r"(at) : "memory");
    }
    if (i == 0 && rank == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                     " [%0], [%1], 64, [%2];" ::"r"(in_block(address_of(s + 64), 1)),
                     "r"(address_of(s + 64)), "r"(in_block(address_of(&object), 1)) : "memory");
    wait_for(&object);
    for (int k = 0; k < 3; ++k) w[96 * rank + 32 * k + i] = s[32 * k + i];
    cooperative_groups::this_cluster().sync();
}
