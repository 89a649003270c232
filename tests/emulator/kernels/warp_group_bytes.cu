// wgmma of matrices of bytes, signed or not, and of bits: sums modulo 2^32, or the nearest that there is.
// in: a uint8[2048] = random
// in: b uint8[512] = random
// in: c int32[1024] = random
// in: e int32[1024] = edges
// out: s8_s8_random int32[1024]
// out: s8_s8_edges int32[1024]
// out: s8_s8_limited_random int32[1024]
// out: s8_s8_limited_edges int32[1024]
// out: s8_u8_random int32[1024]
// out: s8_u8_edges int32[1024]
// out: s8_u8_limited_random int32[1024]
// out: s8_u8_limited_edges int32[1024]
// out: u8_s8_random int32[1024]
// out: u8_s8_edges int32[1024]
// out: u8_s8_limited_random int32[1024]
// out: u8_s8_limited_edges int32[1024]
// out: u8_u8_random int32[1024]
// out: u8_u8_edges int32[1024]
// out: u8_u8_limited_random int32[1024]
// out: u8_u8_limited_edges int32[1024]
// out: bits_random int32[1024]
// out: bits_edges int32[1024]
// launch: s8_s8<<<1, 128>>>(s8_s8_random, a, b, c, 1)
// launch: s8_s8<<<1, 128>>>(s8_s8_edges, a, b, e, 1)
// launch: s8_s8_limited<<<1, 128>>>(s8_s8_limited_random, a, b, c, 1)
// launch: s8_s8_limited<<<1, 128>>>(s8_s8_limited_edges, a, b, e, 1)
// launch: s8_u8<<<1, 128>>>(s8_u8_random, a, b, c, 1)
// launch: s8_u8<<<1, 128>>>(s8_u8_edges, a, b, e, 1)
// launch: s8_u8_limited<<<1, 128>>>(s8_u8_limited_random, a, b, c, 1)
// launch: s8_u8_limited<<<1, 128>>>(s8_u8_limited_edges, a, b, e, 1)
// launch: u8_s8<<<1, 128>>>(u8_s8_random, a, b, c, 1)
// launch: u8_s8<<<1, 128>>>(u8_s8_edges, a, b, e, 1)
// launch: u8_s8_limited<<<1, 128>>>(u8_s8_limited_random, a, b, c, 1)
// launch: u8_s8_limited<<<1, 128>>>(u8_s8_limited_edges, a, b, e, 1)
// launch: u8_u8<<<1, 128>>>(u8_u8_random, a, b, c, 1)
// launch: u8_u8<<<1, 128>>>(u8_u8_edges, a, b, e, 1)
// launch: u8_u8_limited<<<1, 128>>>(u8_u8_limited_random, a, b, c, 1)
// launch: u8_u8_limited<<<1, 128>>>(u8_u8_limited_edges, a, b, e, 1)
// launch: bits<<<1, 128>>>(bits_random, a, b, c, 1)
// launch: bits<<<1, 128>>>(bits_edges, a, b, e, 1)
#include <stdint.h>
__device__ uint64_t descriptor(const void* place, uint32_t leading, uint32_t stride, uint32_t base, uint32_t layout)
{
    const uint32_t address = (uint32_t)__cvta_generic_to_shared(place);
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32
        | (uint64_t)base << 49 | (uint64_t)layout << 62;
}
__global__ void s8_s8(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void s8_s8_limited(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8.satfinite {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void s8_u8(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void s8_u8_limited(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8.satfinite {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void u8_s8(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void u8_s8_limited(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8.satfinite {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void u8_u8(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.u8 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void u8_u8_limited(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.u8.satfinite {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void bits(int* y, const uint8_t* a, const uint8_t* b, const int* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
