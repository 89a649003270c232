// wgmma of bfloat16 and tf32 matrices, and of floats of 8 bits: sums in float32 and in half, ordinary and edge values.
// in: a uint16[1024] = random
// in: b uint16[256] = random
// in: x float32[512] = normal
// in: z float32[128] = normal
// in: v float32[512] = edges
// in: w float32[128] = edges2
// in: p uint8[2048] = random
// in: q uint8[512] = random
// in: c float32[1024] = normal
// in: g float32[1024] = edges3
// in: h float16[1024] = normal
// out: bfloat_random float32[1024]
// out: bfloat_edges float32[1024]
// out: tf32_normal float32[1024]
// out: tf32_edges float32[1024]
// out: e4m3_e4m3_to_single float32[1024]
// out: e4m3_e4m3_to_half float16[1024]
// out: e4m3_e5m2_to_single float32[1024]
// out: e5m2_e4m3_to_single float32[1024]
// out: e5m2_e5m2_to_single float32[1024]
// out: e5m2_e5m2_to_half float16[1024]
// launch: bfloat<<<1, 128>>>(bfloat_random, a, b, c, 1)
// launch: bfloat<<<1, 128>>>(bfloat_edges, a, b, g, 1)
// launch: tf32<<<1, 128>>>(tf32_normal, x, z, c, 1)
// launch: tf32<<<1, 128>>>(tf32_edges, v, w, g, 1)
// launch: e4m3_e4m3_to_single<<<1, 128>>>(e4m3_e4m3_to_single, p, q, c, 1)
// launch: e4m3_e4m3_to_half<<<1, 128>>>(e4m3_e4m3_to_half, p, q, h, 1)
// launch: e4m3_e5m2_to_single<<<1, 128>>>(e4m3_e5m2_to_single, p, q, c, 1)
// launch: e5m2_e4m3_to_single<<<1, 128>>>(e5m2_e4m3_to_single, p, q, c, 1)
// launch: e5m2_e5m2_to_single<<<1, 128>>>(e5m2_e5m2_to_single, p, q, c, 1)
// launch: e5m2_e5m2_to_half<<<1, 128>>>(e5m2_e5m2_to_half, p, q, h, 1)
#include <cuda_fp16.h>
#include <stdint.h>
__device__ uint64_t descriptor(const void* place, uint32_t leading, uint32_t stride, uint32_t base, uint32_t layout)
{
    const uint32_t address = (uint32_t)__cvta_generic_to_shared(place);
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32
        | (uint64_t)base << 49 | (uint64_t)layout << 62;
}
__global__ void bfloat(float* y, const uint16_t* a, const uint16_t* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void tf32(float* y, const float* a, const float* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, -1;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void e4m3_e4m3_to_single(float* y, const uint8_t* a, const uint8_t* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void e4m3_e4m3_to_half(__half* y, const uint8_t* a, const uint8_t* b, const __half* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[4];
    for (int n = 0; n < 4; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n16k32.f16.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, p, 1, 1;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 4; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void e4m3_e5m2_to_single(float* y, const uint8_t* a, const uint8_t* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e5m2 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void e5m2_e4m3_to_single(float* y, const uint8_t* a, const uint8_t* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.f32.e5m2.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void e5m2_e5m2_to_single(float* y, const uint8_t* a, const uint8_t* b, const float* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[8];
    for (int n = 0; n < 8; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.f32.e5m2.e5m2 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 8; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void e5m2_e5m2_to_half(__half* y, const uint8_t* a, const uint8_t* b, const __half* c, int adds)
{
    __shared__ __align__(1024) uint32_t left[512], right[128];
    for (int i = threadIdx.x; i < 512; i += 128) left[i] = ((const uint32_t*)a)[i];
    for (int i = threadIdx.x; i < 128; i += 128) right[i] = ((const uint32_t*)b)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t d[4];
    for (int n = 0; n < 4; ++n) d[n] = ((const uint32_t*)c)[n * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n16k32.f16.e5m2.e5m2 {%0, %1, %2, %3}, %4, %5, p, 1, 1;}"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "l"(descriptor(left, 128, 256, 0, 0)),
          "l"(descriptor(right, 128, 256, 0, 0)), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 4; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
