// mma.sync of float64 matrices: chains of fused multiply-adds, and which NaN wins.
// in: a float64[2048] = normal
// in: b float64[1024] = normal
// in: c float64[1024] = normal
// in: e float64[2048] = edges
// in: f float64[1024] = edges2
// in: g float64[1024] = edges3
// out: double_8_4_normal float64[512]
// out: double_8_4_edges float64[512]
// out: double_16_4_normal float64[1024]
// out: double_16_4_edges float64[1024]
// out: double_16_8_normal float64[1024]
// out: double_16_8_edges float64[1024]
// out: double_16_16_normal float64[1024]
// out: double_16_16_edges float64[1024]
// launch: double_8_4<<<1, 256>>>(double_8_4_normal, a, b, c)
// launch: double_8_4<<<1, 256>>>(double_8_4_edges, e, f, g)
// launch: double_16_4<<<1, 256>>>(double_16_4_normal, a, b, c)
// launch: double_16_4<<<1, 256>>>(double_16_4_edges, e, f, g)
// launch: double_16_8<<<1, 256>>>(double_16_8_normal, a, b, c)
// launch: double_16_8<<<1, 256>>>(double_16_8_edges, e, f, g)
// launch: double_16_16<<<1, 256>>>(double_16_16_normal, a, b, c)
// launch: double_16_16<<<1, 256>>>(double_16_16_edges, e, f, g)
__global__ void double_8_4(double* y, const double* a_values, const double* b_values, const double* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    double a[1], b[1];
    double c[2], d[2];
    for (int n = 0; n < 1; ++n) a[n] = a_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = b_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = c_values[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=d"(d[0]), "=d"(d[1])
        : "d"(a[0]),
          "d"(b[0]),
          "d"(c[0]), "d"(c[1]));
    for (int n = 0; n < 2; ++n) y[(w * 2 + n) * 32 + i] = d[n];
}
__global__ void double_16_4(double* y, const double* a_values, const double* b_values, const double* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    double a[2], b[1];
    double c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = a_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = b_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]),
          "d"(b[0]),
          "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void double_16_8(double* y, const double* a_values, const double* b_values, const double* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    double a[4], b[2];
    double c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = a_values[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = b_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]),
          "d"(b[0]), "d"(b[1]),
          "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void double_16_16(double* y, const double* a_values, const double* b_values, const double* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    double a[8], b[4];
    double c[4], d[4];
    for (int n = 0; n < 8; ++n) a[n] = a_values[(w * 8 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) b[n] = b_values[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]),
          "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
