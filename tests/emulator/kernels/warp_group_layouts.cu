// wgmma on matrices in all layouts of shared memory, transposed and not: 32 columns, both matrices at the same place.
// in: a float16[24576] = normal
// out: plain_layout_16_0 float32[2048]
// out: plain_layout_16_1 float32[2048]
// out: plain_layout_16_2 float32[2048]
// out: plain_layout_16_3 float32[2048]
// out: plain_layout_32_0 float32[2048]
// out: plain_layout_32_1 float32[2048]
// out: plain_layout_32_2 float32[2048]
// out: plain_layout_32_3 float32[2048]
// out: plain_layout_64_0 float32[2048]
// out: plain_layout_64_1 float32[2048]
// out: plain_layout_64_2 float32[2048]
// out: plain_layout_64_3 float32[2048]
// out: plain_layout_128_0 float32[2048]
// out: plain_layout_128_1 float32[2048]
// out: plain_layout_128_2 float32[2048]
// out: plain_layout_128_3 float32[2048]
// out: transposed_layout_16_0 float32[2048]
// out: transposed_layout_16_1 float32[2048]
// out: transposed_layout_16_2 float32[2048]
// out: transposed_layout_16_3 float32[2048]
// out: transposed_layout_32_0 float32[2048]
// out: transposed_layout_32_1 float32[2048]
// out: transposed_layout_32_2 float32[2048]
// out: transposed_layout_32_3 float32[2048]
// out: transposed_layout_64_0 float32[2048]
// out: transposed_layout_64_1 float32[2048]
// out: transposed_layout_64_2 float32[2048]
// out: transposed_layout_64_3 float32[2048]
// out: transposed_layout_128_0 float32[2048]
// out: transposed_layout_128_1 float32[2048]
// out: transposed_layout_128_2 float32[2048]
// out: transposed_layout_128_3 float32[2048]
// out: right_layout_16_0 float32[2048]
// out: right_layout_16_1 float32[2048]
// out: right_layout_16_2 float32[2048]
// out: right_layout_16_3 float32[2048]
// out: right_layout_32_0 float32[2048]
// out: right_layout_32_1 float32[2048]
// out: right_layout_32_2 float32[2048]
// out: right_layout_32_3 float32[2048]
// out: right_layout_64_0 float32[2048]
// out: right_layout_64_1 float32[2048]
// out: right_layout_64_2 float32[2048]
// out: right_layout_64_3 float32[2048]
// out: right_layout_128_0 float32[2048]
// out: right_layout_128_1 float32[2048]
// out: right_layout_128_2 float32[2048]
// out: right_layout_128_3 float32[2048]
// out: left_layout_16_0 float32[2048]
// out: left_layout_16_1 float32[2048]
// out: left_layout_16_2 float32[2048]
// out: left_layout_16_3 float32[2048]
// out: left_layout_32_0 float32[2048]
// out: left_layout_32_1 float32[2048]
// out: left_layout_32_2 float32[2048]
// out: left_layout_32_3 float32[2048]
// out: left_layout_64_0 float32[2048]
// out: left_layout_64_1 float32[2048]
// out: left_layout_64_2 float32[2048]
// out: left_layout_64_3 float32[2048]
// out: left_layout_128_0 float32[2048]
// out: left_layout_128_1 float32[2048]
// out: left_layout_128_2 float32[2048]
// out: left_layout_128_3 float32[2048]
// launch: plain<<<1, 128>>>(plain_layout_16_0, a, 0, 0, 128, 256, 0)
// launch: plain<<<1, 128>>>(plain_layout_16_1, a, 0, 32, 2048, 1024, 0)
// launch: plain<<<1, 128>>>(plain_layout_16_2, a, 0, 1280, 4096, 1040, 2)
// launch: plain<<<1, 128>>>(plain_layout_16_3, a, 0, 2944, 144, 1152, 7)
// launch: plain<<<1, 128>>>(plain_layout_32_0, a, 3, 0, 8192, 256, 0)
// launch: plain<<<1, 128>>>(plain_layout_32_1, a, 3, 32, 2048, 1024, 0)
// launch: plain<<<1, 128>>>(plain_layout_32_2, a, 3, 1280, 4096, 1040, 2)
// launch: plain<<<1, 128>>>(plain_layout_32_3, a, 3, 2944, 144, 1152, 7)
// launch: plain<<<1, 128>>>(plain_layout_64_0, a, 2, 0, 8192, 512, 0)
// launch: plain<<<1, 128>>>(plain_layout_64_1, a, 2, 32, 2048, 1024, 0)
// launch: plain<<<1, 128>>>(plain_layout_64_2, a, 2, 1280, 4096, 1040, 2)
// launch: plain<<<1, 128>>>(plain_layout_64_3, a, 2, 2944, 144, 1152, 7)
// launch: plain<<<1, 128>>>(plain_layout_128_0, a, 1, 0, 8192, 1024, 0)
// launch: plain<<<1, 128>>>(plain_layout_128_1, a, 1, 32, 2048, 1024, 0)
// launch: plain<<<1, 128>>>(plain_layout_128_2, a, 1, 1280, 4096, 1040, 2)
// launch: plain<<<1, 128>>>(plain_layout_128_3, a, 1, 2944, 144, 1152, 7)
// launch: transposed<<<1, 128>>>(transposed_layout_16_0, a, 0, 0, 128, 256, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_16_1, a, 0, 32, 2048, 1024, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_16_2, a, 0, 1280, 4096, 1040, 2)
// launch: transposed<<<1, 128>>>(transposed_layout_16_3, a, 0, 2944, 144, 1152, 7)
// launch: transposed<<<1, 128>>>(transposed_layout_32_0, a, 3, 0, 8192, 256, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_32_1, a, 3, 32, 2048, 1024, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_32_2, a, 3, 1280, 4096, 1040, 2)
// launch: transposed<<<1, 128>>>(transposed_layout_32_3, a, 3, 2944, 144, 1152, 7)
// launch: transposed<<<1, 128>>>(transposed_layout_64_0, a, 2, 0, 8192, 512, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_64_1, a, 2, 32, 2048, 1024, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_64_2, a, 2, 1280, 4096, 1040, 2)
// launch: transposed<<<1, 128>>>(transposed_layout_64_3, a, 2, 2944, 144, 1152, 7)
// launch: transposed<<<1, 128>>>(transposed_layout_128_0, a, 1, 0, 8192, 1024, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_128_1, a, 1, 32, 2048, 1024, 0)
// launch: transposed<<<1, 128>>>(transposed_layout_128_2, a, 1, 1280, 4096, 1040, 2)
// launch: transposed<<<1, 128>>>(transposed_layout_128_3, a, 1, 2944, 144, 1152, 7)
// launch: right<<<1, 128>>>(right_layout_16_0, a, 0, 0, 128, 256, 0)
// launch: right<<<1, 128>>>(right_layout_16_1, a, 0, 32, 2048, 1024, 0)
// launch: right<<<1, 128>>>(right_layout_16_2, a, 0, 1280, 4096, 1040, 2)
// launch: right<<<1, 128>>>(right_layout_16_3, a, 0, 2944, 144, 1152, 7)
// launch: right<<<1, 128>>>(right_layout_32_0, a, 3, 0, 8192, 256, 0)
// launch: right<<<1, 128>>>(right_layout_32_1, a, 3, 32, 2048, 1024, 0)
// launch: right<<<1, 128>>>(right_layout_32_2, a, 3, 1280, 4096, 1040, 2)
// launch: right<<<1, 128>>>(right_layout_32_3, a, 3, 2944, 144, 1152, 7)
// launch: right<<<1, 128>>>(right_layout_64_0, a, 2, 0, 8192, 512, 0)
// launch: right<<<1, 128>>>(right_layout_64_1, a, 2, 32, 2048, 1024, 0)
// launch: right<<<1, 128>>>(right_layout_64_2, a, 2, 1280, 4096, 1040, 2)
// launch: right<<<1, 128>>>(right_layout_64_3, a, 2, 2944, 144, 1152, 7)
// launch: right<<<1, 128>>>(right_layout_128_0, a, 1, 0, 8192, 1024, 0)
// launch: right<<<1, 128>>>(right_layout_128_1, a, 1, 32, 2048, 1024, 0)
// launch: right<<<1, 128>>>(right_layout_128_2, a, 1, 1280, 4096, 1040, 2)
// launch: right<<<1, 128>>>(right_layout_128_3, a, 1, 2944, 144, 1152, 7)
// launch: left<<<1, 128>>>(left_layout_16_0, a, 0, 0, 128, 256, 0)
// launch: left<<<1, 128>>>(left_layout_16_1, a, 0, 32, 2048, 1024, 0)
// launch: left<<<1, 128>>>(left_layout_16_2, a, 0, 1280, 4096, 1040, 2)
// launch: left<<<1, 128>>>(left_layout_16_3, a, 0, 2944, 144, 1152, 7)
// launch: left<<<1, 128>>>(left_layout_32_0, a, 3, 0, 8192, 256, 0)
// launch: left<<<1, 128>>>(left_layout_32_1, a, 3, 32, 2048, 1024, 0)
// launch: left<<<1, 128>>>(left_layout_32_2, a, 3, 1280, 4096, 1040, 2)
// launch: left<<<1, 128>>>(left_layout_32_3, a, 3, 2944, 144, 1152, 7)
// launch: left<<<1, 128>>>(left_layout_64_0, a, 2, 0, 8192, 512, 0)
// launch: left<<<1, 128>>>(left_layout_64_1, a, 2, 32, 2048, 1024, 0)
// launch: left<<<1, 128>>>(left_layout_64_2, a, 2, 1280, 4096, 1040, 2)
// launch: left<<<1, 128>>>(left_layout_64_3, a, 2, 2944, 144, 1152, 7)
// launch: left<<<1, 128>>>(left_layout_128_0, a, 1, 0, 8192, 1024, 0)
// launch: left<<<1, 128>>>(left_layout_128_1, a, 1, 32, 2048, 1024, 0)
// launch: left<<<1, 128>>>(left_layout_128_2, a, 1, 1280, 4096, 1040, 2)
// launch: left<<<1, 128>>>(left_layout_128_3, a, 1, 2944, 144, 1152, 7)
#include <cuda_fp16.h>
#include <stdint.h>
__device__ uint64_t descriptor(const void* place, uint32_t leading, uint32_t stride, uint32_t base, uint32_t layout)
{
    const uint32_t address = (uint32_t)__cvta_generic_to_shared(place);
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32
        | (uint64_t)base << 49 | (uint64_t)layout << 62;
}
__global__ void plain(float* y, const __half* a, int layout, int start, int leading, int stride, int base)
{
    __shared__ __align__(1024) uint32_t all[12288 - 256];
    for (int i = threadIdx.x; i < 12288 - 256; i += 128) all[i] = ((const uint32_t*)a)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const uint64_t place = descriptor((char*)all + start, leading, stride, base, layout);
    uint32_t d[16] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %16, 1, 1, 1, 0, 0;"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
        : "l"(place));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 16; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void transposed(float* y, const __half* a, int layout, int start, int leading, int stride, int base)
{
    __shared__ __align__(1024) uint32_t all[12288 - 256];
    for (int i = threadIdx.x; i < 12288 - 256; i += 128) all[i] = ((const uint32_t*)a)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const uint64_t place = descriptor((char*)all + start, leading, stride, base, layout);
    uint32_t d[16] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %16, 1, 1, 1, 1, 1;"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
        : "l"(place));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 16; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void right(float* y, const __half* a, int layout, int start, int leading, int stride, int base)
{
    __shared__ __align__(1024) uint32_t all[12288 - 256];
    for (int i = threadIdx.x; i < 12288 - 256; i += 128) all[i] = ((const uint32_t*)a)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const uint64_t place = descriptor((char*)all + start, leading, stride, base, layout);
    uint32_t d[16] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %16, 1, 1, 1, 0, 1;"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
        : "l"(place));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 16; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
__global__ void left(float* y, const __half* a, int layout, int start, int leading, int stride, int base)
{
    __shared__ __align__(1024) uint32_t all[12288 - 256];
    for (int i = threadIdx.x; i < 12288 - 256; i += 128) all[i] = ((const uint32_t*)a)[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const uint64_t place = descriptor((char*)all + start, leading, stride, base, layout);
    uint32_t d[16] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %16, 1, 1, 1, 1, 0;"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
        : "l"(place));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int n = 0; n < 16; ++n) ((uint32_t*)y)[n * 128 + threadIdx.x] = d[n];
}
