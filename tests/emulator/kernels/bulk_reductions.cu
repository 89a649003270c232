// Reductions of many bytes: in global memory, and in another block's shared memory.
// in: a uint32[32] = random
// in: f float32[32] = small
// in: d float64[16] = small
// in: h uint16[64] = random
// inout: y uint32[512] = random
// inout: yf float32[32] = normal
// inout: yd float64[16] = normal
// inout: yh uint16[384] = random
// out: z uint32[704]
// levels: 1 3
// launch: integers<<<1, 32>>>(y, a)
// launch: floats<<<1, 32>>>(yf, f, yd, d)
// launch: halves<<<1, 32>>>(yh, h)
// launch: shared<<<2, 32>>>(z, a, y)
#include <cooperative_groups.h>

__device__ unsigned address_of(const void* p) { return __cvta_generic_to_shared(p); }

#define REDUCE(operation, target)                                                                  \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], 128;" \
                 ::"l"(target), "r"(address_of(s)) : "memory")
#define FINISH asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory")

__global__ void integers(unsigned* y, const unsigned* a)
{
    __shared__ alignas(128) unsigned s[32];
    s[threadIdx.x] = a[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x) return;
    REDUCE("add.u32", y);
    REDUCE("add.s32", y + 32);
    REDUCE("add.u64", y + 64);
    REDUCE("min.u32", y + 96);
    REDUCE("min.s32", y + 128);
    REDUCE("min.u64", y + 160);
    REDUCE("min.s64", y + 192);
    REDUCE("max.u32", y + 224);
    REDUCE("max.s32", y + 256);
    REDUCE("max.s64", y + 288);
    REDUCE("inc.u32", y + 320);
    REDUCE("dec.u32", y + 352);
    REDUCE("and.b32", y + 384);
    REDUCE("or.b32", y + 416);
    REDUCE("xor.b32", y + 448);
    REDUCE("xor.b64", y + 480);
    FINISH;
}

__global__ void floats(float* yf, const float* f, double* yd, const double* d)
{
    __shared__ alignas(128) float s[32];
    s[threadIdx.x] = f[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        REDUCE("add.f32", yf);
        FINISH;
    }
    __syncwarp();
    if (threadIdx.x < 16) reinterpret_cast<double*>(s)[threadIdx.x] = d[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        REDUCE("add.f64", yd);
        FINISH;
    }
}

__global__ void halves(unsigned short* yh, const unsigned short* h)
{
    __shared__ alignas(128) unsigned short s[64];
    s[threadIdx.x] = h[threadIdx.x];
    s[threadIdx.x + 32] = h[threadIdx.x + 32];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x) return;
    REDUCE("add.noftz.f16", yh);
    REDUCE("add.noftz.bf16", yh + 64);
    REDUCE("min.f16", yh + 128);
    REDUCE("max.f16", yh + 192);
    REDUCE("min.bf16", yh + 256);
    REDUCE("max.bf16", yh + 320);
    FINISH;
}

#define REDUCE_THERE(operation, place)                                                             \
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."   \
                 operation " [%0], [%1], 128, [%2];"                                               \
                 ::"r"(there + 128 * place), "r"(address_of(s)), "r"(at) : "memory")

__global__ void __cluster_dims__(2) shared(unsigned* z, const unsigned* a, const unsigned* y)
{
    __shared__ alignas(128) unsigned s[32], t[352];
    __shared__ unsigned long long object;
    auto cluster = cooperative_groups::this_cluster();
    const unsigned i = threadIdx.x, rank = cluster.block_rank();
    s[i] = a[i] + 77 * rank;
    for (int k = 0; k < 11; ++k) t[32 * k + i] = y[32 * k + i];
    if (i == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&object)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                     ::"r"(address_of(&object)), "r"(11 * 128) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    unsigned there, at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address_of(t)), "r"(rank ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(address_of(&object)), "r"(rank ^ 1));
    if (i == 0) {
        REDUCE_THERE("add.u32", 0);
        REDUCE_THERE("add.s32", 1);
        REDUCE_THERE("add.u64", 2);
        REDUCE_THERE("min.u32", 3);
        REDUCE_THERE("min.s32", 4);
        REDUCE_THERE("max.s32", 5);
        REDUCE_THERE("inc.u32", 6);
        REDUCE_THERE("dec.u32", 7);
        REDUCE_THERE("and.b32", 8);
        REDUCE_THERE("or.b32", 9);
        REDUCE_THERE("xor.b32", 10);
    }
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(address_of(&object)) : "memory");
    for (int k = 0; k < 11; ++k) z[352 * rank + 32 * k + i] = t[32 * k + i];
    cluster.sync();
}
