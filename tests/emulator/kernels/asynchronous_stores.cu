// Stores and reductions to another block's shared memory whose bytes arrive at an object there.
// out: y uint32[640]
// out: z uint32[64]
// levels: 1 3
// launch: stores<<<2, 32>>>(y)
// launch: reductions<<<2, 32>>>(z)
#include <cooperative_groups.h>

__device__ unsigned address_of(const void* p) { return __cvta_generic_to_shared(p); }

__device__ unsigned in_other_block(unsigned address)
{
    unsigned there;
    const unsigned other = cooperative_groups::this_cluster().block_rank() ^ 1;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(other));
    return there;
}

__device__ void expect(unsigned long long* object, unsigned bytes)
{
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(object)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                     ::"r"(address_of(object)), "r"(bytes) : "memory");
    }
    cooperative_groups::this_cluster().sync();
}

__device__ void wait_for(unsigned long long* object)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(address_of(object)) : "memory");
}

__global__ void __cluster_dims__(2) stores(unsigned* y)
{
    __shared__ alignas(16) unsigned s[320];
    __shared__ unsigned long long object;
    const unsigned i = threadIdx.x, word = 1000 * blockIdx.x + i;
    for (int k = 0; k < 10; ++k) s[32 * k + i] = 7;
    expect(&object, 29 * 4 + 32 * 8 + 32 * 16 + 32 * 16);
    const unsigned there = in_other_block(address_of(s)), at = in_other_block(address_of(&object));
    const unsigned long long two = word + 500ull + (static_cast<unsigned long long>(word) << 32);
    if (i < 29)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                     ::"r"(there + 4 * i), "r"(word), "r"(at) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                 ::"r"(there + 128 + 8 * i), "l"(two), "r"(at) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %3, %4, %5},"
                 " [%2];" ::"r"(there + 384 + 16 * (i ^ 3)), "r"(word), "r"(at), "r"(word + 1),
                 "r"(word + 2), "r"(word + 3) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %3}, [%2];"
                 ::"r"(there + 768 + 16 * i), "l"(two), "r"(at), "l"(two + 1) : "memory");
    wait_for(&object);
    for (int k = 0; k < 10; ++k) y[320 * blockIdx.x + 32 * k + i] = s[32 * k + i];
    cooperative_groups::this_cluster().sync();
}

#define REDUCE(operation, letter, value, place)                                                    \
    asm volatile("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster." operation \
                 " [%0], %1, [%2];" ::"r"(there + place), letter(value), "r"(at) : "memory")

__global__ void __cluster_dims__(2) reductions(unsigned* z)
{
    __shared__ alignas(16) unsigned s[32];
    __shared__ unsigned long long object;
    const unsigned i = threadIdx.x;
    s[i] = 0x80000000 * (i & 1) + 37 * i;
    expect(&object, 32 * (11 * 4 + 8));
    const unsigned there = in_other_block(address_of(s)), at = in_other_block(address_of(&object));
    const unsigned word = 17 * i + (i % 3 == 0 ? 0x80000000 : 0) + (blockIdx.x ^ 1);
    REDUCE("add.u32", "r", word, 0);
    REDUCE("add.s32", "r", word, 4);
    REDUCE("add.u64", "l", 0x100000001ull * i, 8);
    REDUCE("inc.u32", "r", word | 255, 16);
    REDUCE("dec.u32", "r", word, 20);
    REDUCE("min.u32", "r", word, 24);
    REDUCE("min.s32", "r", word, 28);
    REDUCE("max.u32", "r", word, 32);
    REDUCE("max.s32", "r", word, 36);
    REDUCE("and.b32", "r", word | 3, 40);
    REDUCE("or.b32", "r", word, 44);
    REDUCE("xor.b32", "r", word, 48);
    wait_for(&object);
    z[32 * blockIdx.x + i] = s[i];
    cooperative_groups::this_cluster().sync();
}
