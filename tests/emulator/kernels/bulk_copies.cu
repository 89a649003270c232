// Bulk copies: tiles into shared memory by one thread, back to global memory, and within shared
// memory; of lanes that copy a part each.
// in: a int32[2048] = small
// out: y int32[2048]
// out: z int32[512]
// levels: 1 3
// launch: tiles<<<2, 128>>>(y, a)
// launch: parts<<<1, 32>>>(z, a)
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

__global__ void tiles(int* y, const int* a)
{
    __shared__ alignas(128) int s[256], t[256];
    __shared__ barrier b;
    if (threadIdx.x == 0) {
        init(&b, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        const int first = 1024 * blockIdx.x + 256 * k;
        barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(s, a + first, cuda::aligned_size_t<16>(sizeof s), b);
            token = cuda::device::barrier_arrive_tx(b, 1, sizeof s);
        } else {
            token = b.arrive();
        }
        b.wait(std::move(token));
        for (int i = threadIdx.x; i < 256; i += 128) t[i] = 3 * s[i ^ 1] + k;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + first, t, sizeof t);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
}

__global__ void parts(int* z, const int* a)
{
    __shared__ alignas(128) int s[512];
    __shared__ alignas(8) unsigned long long b;
    const unsigned at = __cvta_generic_to_shared(&b);
    const unsigned to = __cvta_generic_to_shared(s + 16 * threadIdx.x);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncwarp();
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2,"
                 " [%3];" ::"r"(to), "l"(a + 16 * (31 - threadIdx.x)), "r"(64), "r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 64;" ::"r"(at) : "memory");
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(at) : "memory");
    for (int i = threadIdx.x; i < 512; i += 32) z[i] = s[i];
}
