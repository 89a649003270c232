// mma.sync of matrices of floats of 8 bits, which sm_90 multiplies as halves.
// in: a uint32[1024] = random
// in: b uint32[512] = random
// in: c float32[1024] = normal
// in: g float32[1024] = edges
// out: e4m3_e4m3_random float32[1024]
// out: e4m3_e4m3_edges float32[1024]
// out: e4m3_e5m2_random float32[1024]
// out: e4m3_e5m2_edges float32[1024]
// out: e5m2_e4m3_random float32[1024]
// out: e5m2_e4m3_edges float32[1024]
// out: e5m2_e5m2_random float32[1024]
// out: e5m2_e5m2_edges float32[1024]
// launch: e4m3_e4m3<<<1, 256>>>(e4m3_e4m3_random, a, b, c)
// launch: e4m3_e4m3<<<1, 256>>>(e4m3_e4m3_edges, a, b, g)
// launch: e4m3_e5m2<<<1, 256>>>(e4m3_e5m2_random, a, b, c)
// launch: e4m3_e5m2<<<1, 256>>>(e4m3_e5m2_edges, a, b, g)
// launch: e5m2_e4m3<<<1, 256>>>(e5m2_e4m3_random, a, b, c)
// launch: e5m2_e4m3<<<1, 256>>>(e5m2_e4m3_edges, a, b, g)
// launch: e5m2_e5m2<<<1, 256>>>(e5m2_e5m2_random, a, b, c)
// launch: e5m2_e5m2<<<1, 256>>>(e5m2_e5m2_edges, a, b, g)
__global__ void e4m3_e4m3(float* y, const unsigned* a_values, const unsigned* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void e4m3_e5m2(float* y, const unsigned* a_values, const unsigned* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void e5m2_e4m3(float* y, const unsigned* a_values, const unsigned* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void e5m2_e5m2(float* y, const unsigned* a_values, const unsigned* b_values, const float* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    float c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const float*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int n = 0; n < 4; ++n) ((float*)y)[(w * 4 + n) * 32 + i] = d[n];
}
