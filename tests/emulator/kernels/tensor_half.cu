// mma.sync of half matrices, with sums in float32 and in half: registers as they stand, ordinary and edge values.
// in: a float16[2048] = normal
// in: b float16[1024] = normal
// in: e float16[2048] = edges
// in: f float16[1024] = edges2
// in: c float32[1024] = normal
// in: g float32[1024] = edges3
// in: h float16[1024] = normal
// in: k float16[1024] = edges3
// out: half_16_normal float32[1024]
// out: half_16_edges float32[1024]
// out: half_8_normal float32[1024]
// out: half_8_edges float32[1024]
// out: half_16_to_half_normal float16[1024]
// out: half_16_to_half_edges float16[1024]
// out: half_8_to_half_normal float16[1024]
// out: half_8_to_half_edges float16[1024]
// launch: half_16<<<1, 256>>>(half_16_normal, a, b, c)
// launch: half_16<<<1, 256>>>(half_16_edges, e, f, g)
// launch: half_8<<<1, 256>>>(half_8_normal, a, b, c)
// launch: half_8<<<1, 256>>>(half_8_edges, e, f, g)
// launch: half_16_to_half<<<1, 256>>>(half_16_to_half_normal, a, b, h)
// launch: half_16_to_half<<<1, 256>>>(half_16_to_half_edges, e, f, k)
// launch: half_8_to_half<<<1, 256>>>(half_8_to_half_normal, a, b, h)
// launch: half_8_to_half<<<1, 256>>>(half_8_to_half_edges, e, f, k)
#include <cuda_fp16.h>
__global__ void half_16(float* y, const __half* a_values, const __half* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_8(float* y, const __half* a_values, const __half* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[1];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void half_16_to_half(__half* y, const __half* a_values, const __half* b_values, const __half* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    unsigned c[2], d[2];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = ((const unsigned*)c_values)[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]));
    for (int n = 0; n < 2; ++n) ((unsigned*)y)[(w * 2 + n) * 32 + i] = d[n];
}
__global__ void half_8_to_half(__half* y, const __half* a_values, const __half* b_values, const __half* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[1];
    unsigned c[2], d[2];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = ((const unsigned*)c_values)[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]),
          "r"(c[0]), "r"(c[1]));
    for (int n = 0; n < 2; ++n) ((unsigned*)y)[(w * 2 + n) * 32 + i] = d[n];
}
