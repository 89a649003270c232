// mma.sync of tf32 matrices: registers as they stand, ordinary and edge values.
// in: a float32[1024] = normal
// in: b float32[512] = normal
// in: e float32[1024] = edges
// in: f float32[512] = edges2
// in: c float32[1024] = normal
// in: g float32[1024] = edges3
// out: tf32_8_normal float32[1024]
// out: tf32_8_edges float32[1024]
// out: tf32_4_normal float32[1024]
// out: tf32_4_edges float32[1024]
// launch: tf32_8<<<1, 256>>>(tf32_8_normal, a, b, c)
// launch: tf32_8<<<1, 256>>>(tf32_8_edges, e, f, g)
// launch: tf32_4<<<1, 256>>>(tf32_4_normal, a, b, c)
// launch: tf32_4<<<1, 256>>>(tf32_4_edges, e, f, g)
__global__ void tf32_8(float* y, const float* a_values, const float* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void tf32_4(float* y, const float* a_values, const float* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[1];
    float c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
