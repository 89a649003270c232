// mma.sp: matrices A of which two of four elements (tf32: one of two) are there, in all formats; registers as they stand.
// in: a float16[2048] = normal
// in: b float16[2048] = normal
// in: e float16[2048] = edges
// in: f float16[2048] = edges2
// in: s uint16[2048] = random
// in: z uint16[2048] = random
// in: x float32[1024] = normal
// in: w float32[1024] = edges
// in: p uint32[1024] = random
// in: q uint32[1024] = random
// in: c float32[1024] = normal
// in: h float16[1024] = normal
// in: k int32[1024] = edges
// in: places uint32[256] = {0x44444444, 0xeeeeeeee, 0x98de4c8d, 0xe4d9c84e, 0x4e89dc98, 0xcd49e84c, 0x8c4ed9d9}
// in: singles uint32[256] = {0x44444444, 0xeeeeeeee, 0x4e44eee4, 0xe4e4ee44, 0x44e4eeee}
// out: half_32_by_0_normal float32[1024]
// out: half_32_by_0_edges float32[1024]
// out: half_32_by_1_normal float32[1024]
// out: half_32_by_1_edges float32[1024]
// out: half_16_by_0_normal float32[1024]
// out: half_16_by_0_edges float32[1024]
// out: half_16_by_1_normal float32[1024]
// out: half_16_by_1_edges float32[1024]
// out: half_16_by_2_normal float32[1024]
// out: half_16_by_2_edges float32[1024]
// out: half_16_by_3_normal float32[1024]
// out: half_16_by_3_edges float32[1024]
// out: half_32_to_half_by_0_normal float16[1024]
// out: half_32_to_half_by_0_edges float16[1024]
// out: half_16_to_half_by_3_normal float16[1024]
// out: half_16_to_half_by_3_edges float16[1024]
// out: bfloat_32_by_1_random float32[1024]
// out: bfloat_16_by_2_random float32[1024]
// out: tf32_16_by_0_normal float32[1024]
// out: tf32_16_by_0_edges float32[1024]
// out: tf32_16_by_1_normal float32[1024]
// out: tf32_16_by_1_edges float32[1024]
// out: tf32_8_by_0_normal float32[1024]
// out: tf32_8_by_0_edges float32[1024]
// out: tf32_8_by_1_normal float32[1024]
// out: tf32_8_by_1_edges float32[1024]
// out: tf32_8_by_2_normal float32[1024]
// out: tf32_8_by_2_edges float32[1024]
// out: tf32_8_by_3_normal float32[1024]
// out: tf32_8_by_3_edges float32[1024]
// out: s8_u8_64_by_0_random int32[1024]
// out: s8_s8_32_by_0_random int32[1024]
// out: s8_s8_32_by_1_random int32[1024]
// out: u8_s8_32_by_1_random int32[1024]
// launch: half_32_by_0<<<1, 256>>>(half_32_by_0_normal, a, b, c, places)
// launch: half_32_by_0<<<1, 256>>>(half_32_by_0_edges, e, f, c, places)
// launch: half_32_by_1<<<1, 256>>>(half_32_by_1_normal, a, b, c, places)
// launch: half_32_by_1<<<1, 256>>>(half_32_by_1_edges, e, f, c, places)
// launch: half_16_by_0<<<1, 256>>>(half_16_by_0_normal, a, b, c, places)
// launch: half_16_by_0<<<1, 256>>>(half_16_by_0_edges, e, f, c, places)
// launch: half_16_by_1<<<1, 256>>>(half_16_by_1_normal, a, b, c, places)
// launch: half_16_by_1<<<1, 256>>>(half_16_by_1_edges, e, f, c, places)
// launch: half_16_by_2<<<1, 256>>>(half_16_by_2_normal, a, b, c, places)
// launch: half_16_by_2<<<1, 256>>>(half_16_by_2_edges, e, f, c, places)
// launch: half_16_by_3<<<1, 256>>>(half_16_by_3_normal, a, b, c, places)
// launch: half_16_by_3<<<1, 256>>>(half_16_by_3_edges, e, f, c, places)
// launch: half_32_to_half_by_0<<<1, 256>>>(half_32_to_half_by_0_normal, a, b, h, places)
// launch: half_32_to_half_by_0<<<1, 256>>>(half_32_to_half_by_0_edges, e, f, h, places)
// launch: half_16_to_half_by_3<<<1, 256>>>(half_16_to_half_by_3_normal, a, b, h, places)
// launch: half_16_to_half_by_3<<<1, 256>>>(half_16_to_half_by_3_edges, e, f, h, places)
// launch: bfloat_32_by_1<<<1, 256>>>(bfloat_32_by_1_random, s, z, c, places)
// launch: bfloat_16_by_2<<<1, 256>>>(bfloat_16_by_2_random, s, z, c, places)
// launch: tf32_16_by_0<<<1, 256>>>(tf32_16_by_0_normal, x, c, c, singles)
// launch: tf32_16_by_0<<<1, 256>>>(tf32_16_by_0_edges, w, x, c, singles)
// launch: tf32_16_by_1<<<1, 256>>>(tf32_16_by_1_normal, x, c, c, singles)
// launch: tf32_16_by_1<<<1, 256>>>(tf32_16_by_1_edges, w, x, c, singles)
// launch: tf32_8_by_0<<<1, 256>>>(tf32_8_by_0_normal, x, c, c, singles)
// launch: tf32_8_by_0<<<1, 256>>>(tf32_8_by_0_edges, w, x, c, singles)
// launch: tf32_8_by_1<<<1, 256>>>(tf32_8_by_1_normal, x, c, c, singles)
// launch: tf32_8_by_1<<<1, 256>>>(tf32_8_by_1_edges, w, x, c, singles)
// launch: tf32_8_by_2<<<1, 256>>>(tf32_8_by_2_normal, x, c, c, singles)
// launch: tf32_8_by_2<<<1, 256>>>(tf32_8_by_2_edges, w, x, c, singles)
// launch: tf32_8_by_3<<<1, 256>>>(tf32_8_by_3_normal, x, c, c, singles)
// launch: tf32_8_by_3<<<1, 256>>>(tf32_8_by_3_edges, w, x, c, singles)
// launch: s8_u8_64_by_0<<<1, 256>>>(s8_u8_64_by_0_random, p, q, k, places)
// launch: s8_s8_32_by_0<<<1, 256>>>(s8_s8_32_by_0_random, p, q, k, places)
// launch: s8_s8_32_by_1<<<1, 256>>>(s8_s8_32_by_1_random, p, q, k, places)
// launch: u8_s8_32_by_1<<<1, 256>>>(u8_s8_32_by_1_random, p, q, k, places)
#include <cuda_fp16.h>
__global__ void half_32_by_0(float* y, const __half* a_values, const __half* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[4];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = ((const unsigned*)b_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0x0;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_32_by_1(float* y, const __half* a_values, const __half* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[4];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = ((const unsigned*)b_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0x1;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_16_by_0(float* y, const __half* a_values, const __half* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x0;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_16_by_1(float* y, const __half* a_values, const __half* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x1;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_16_by_2(float* y, const __half* a_values, const __half* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x2;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_16_by_3(float* y, const __half* a_values, const __half* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x3;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_32_to_half_by_0(__half* y, const __half* a_values, const __half* b_values, const __half* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[4];
    unsigned c[2], d[2];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = ((const unsigned*)b_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = ((const unsigned*)c_values)[(w * 2 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, {%10, %11}, %12, 0x0;"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "r"(c[0]), "r"(c[1]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 2; ++n) ((unsigned*)y)[(w * 2 + n) * 32 + i] = d[n];
}
__global__ void half_16_to_half_by_3(__half* y, const __half* a_values, const __half* b_values, const __half* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    unsigned c[2], d[2];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = ((const unsigned*)c_values)[(w * 2 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4, %5}, {%6, %7}, %8, 0x3;"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 2; ++n) ((unsigned*)y)[(w * 2 + n) * 32 + i] = d[n];
}
__global__ void bfloat_32_by_1(float* y, const unsigned short* a_values, const unsigned short* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[4];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = ((const unsigned*)b_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0x1;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void bfloat_16_by_2(float* y, const unsigned short* a_values, const unsigned short* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x2;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void tf32_16_by_0(float* y, const float* a_values, const float* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[4];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = ((const unsigned*)b_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0x0;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void tf32_16_by_1(float* y, const float* a_values, const float* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[4];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = ((const unsigned*)b_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0x1;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void tf32_8_by_0(float* y, const float* a_values, const float* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x0;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void tf32_8_by_1(float* y, const float* a_values, const float* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x1;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void tf32_8_by_2(float* y, const float* a_values, const float* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x2;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void tf32_8_by_3(float* y, const float* a_values, const float* b_values, const float* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x3;"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void s8_u8_64_by_0(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[4];
    unsigned c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = ((const unsigned*)b_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0x0;"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void s8_s8_32_by_0(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    unsigned c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x0;"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void s8_s8_32_by_1(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    unsigned c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x1;"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void u8_s8_32_by_1(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values, const unsigned* places)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[2];
    unsigned c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, 0x1;"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(places[w * 32 + i]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
