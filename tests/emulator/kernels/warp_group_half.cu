// wgmma of half matrices by one group of warps, A in shared memory or in registers: sums in float32 and in half, ordinary and edge values, without C, negated.
// in: a float16[1024] = normal
// in: b float16[256] = normal
// in: e float16[1024] = edges
// in: f float16[256] = edges2
// in: c float32[1024] = normal
// in: g float32[1024] = edges3
// in: h float16[1024] = normal
// in: k float16[1024] = edges3
// out: single_normal float32[1024]
// out: single_edges float32[1024]
// out: single_alone float32[1024]
// out: registers_normal float32[1024]
// out: registers_edges float32[1024]
// out: to_half_normal float16[1024]
// out: to_half_edges float16[1024]
// out: to_half_alone float16[1024]
// out: negated_normal float32[1024]
// out: negated_edges float32[1024]
// out: negated_registers_normal float16[1024]
// out: negated_registers_edges float16[1024]
// launch: single<<<1, 128>>>(single_normal, a, b, c, 1)
// launch: single<<<1, 128>>>(single_edges, e, f, g, 1)
// launch: single<<<1, 128>>>(single_alone, a, b, g, 0)
// launch: registers<<<1, 128>>>(registers_normal, a, b, c, 1)
// launch: registers<<<1, 128>>>(registers_edges, e, f, g, 1)
// launch: to_half<<<1, 128>>>(to_half_normal, a, b, h, 1)
// launch: to_half<<<1, 128>>>(to_half_edges, e, f, k, 1)
// launch: to_half<<<1, 128>>>(to_half_alone, a, b, k, 0)
// launch: negated<<<1, 128>>>(negated_normal, a, b, c, 1)
// launch: negated<<<1, 128>>>(negated_edges, e, f, g, 1)
// launch: negated_registers<<<1, 128>>>(negated_registers_normal, a, b, h, 1)
// launch: negated_registers<<<1, 128>>>(negated_registers_edges, e, f, k, 1)
#include <cuda_fp16.h>
#include <stdint.h>
__device__ uint64_t descriptor(const void* place, uint32_t leading, uint32_t stride, uint32_t base, uint32_t layout)
{
    const uint32_t address = (uint32_t)__cvta_generic_to_shared(place);
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32
        | (uint64_t)base << 49 | (uint64_t)layout << 62;
}
__global__ void single(float* y, const __half* a, const __half* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void registers(float* y, const __half* a, const __half* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %13, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, p, 1, 1, 0;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "r"(left[threadIdx.x]), "r"(left[threadIdx.x + 128]), "r"(left[threadIdx.x + 256]), "r"(left[threadIdx.x + 384]),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void to_half(__half* y, const __half* a, const __half* b, const __half* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[4];
    for (int n = 0; n < 4; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 4; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void negated(float* y, const __half* a, const __half* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, -1, 1, 0, 0;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void negated_registers(__half* y, const __half* a, const __half* b, const __half* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[4];
    for (int n = 0; n < 4; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %9, 0; wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, -1, -1, 0;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(left[threadIdx.x]), "r"(left[threadIdx.x + 128]), "r"(left[threadIdx.x + 256]), "r"(left[threadIdx.x + 384]),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 4; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
