// mma.sync of matrices of bytes, signed or not: sums modulo 2^32, or the nearest that there is.
// in: a uint32[1024] = random
// in: b uint32[512] = random
// in: c int32[1024] = random
// in: e int32[1024] = edges
// out: s8_s8_32_random int32[1024]
// out: s8_s8_32_edges int32[1024]
// out: s8_u8_32_random int32[1024]
// out: s8_u8_32_edges int32[1024]
// out: u8_s8_32_random int32[1024]
// out: u8_s8_32_edges int32[1024]
// out: u8_u8_32_random int32[1024]
// out: u8_u8_32_edges int32[1024]
// out: s8_s8_16_random int32[1024]
// out: s8_s8_16_edges int32[1024]
// out: u8_u8_16_random int32[1024]
// out: u8_u8_16_edges int32[1024]
// out: s8_s8_8_random int32[512]
// out: s8_s8_8_edges int32[512]
// out: u8_s8_8_random int32[512]
// out: u8_s8_8_edges int32[512]
// launch: s8_s8_32<<<1, 256>>>(s8_s8_32_random, a, b, c)
// launch: s8_s8_32<<<1, 256>>>(s8_s8_32_edges, a, b, e)
// launch: s8_u8_32<<<1, 256>>>(s8_u8_32_random, a, b, c)
// launch: s8_u8_32<<<1, 256>>>(s8_u8_32_edges, a, b, e)
// launch: u8_s8_32<<<1, 256>>>(u8_s8_32_random, a, b, c)
// launch: u8_s8_32<<<1, 256>>>(u8_s8_32_edges, a, b, e)
// launch: u8_u8_32<<<1, 256>>>(u8_u8_32_random, a, b, c)
// launch: u8_u8_32<<<1, 256>>>(u8_u8_32_edges, a, b, e)
// launch: s8_s8_16<<<1, 256>>>(s8_s8_16_random, a, b, c)
// launch: s8_s8_16<<<1, 256>>>(s8_s8_16_edges, a, b, e)
// launch: u8_u8_16<<<1, 256>>>(u8_u8_16_random, a, b, c)
// launch: u8_u8_16<<<1, 256>>>(u8_u8_16_edges, a, b, e)
// launch: s8_s8_8<<<1, 256>>>(s8_s8_8_random, a, b, c)
// launch: s8_s8_8<<<1, 256>>>(s8_s8_8_edges, a, b, e)
// launch: u8_s8_8<<<1, 256>>>(u8_s8_8_random, a, b, c)
// launch: u8_s8_8<<<1, 256>>>(u8_s8_8_edges, a, b, e)
__global__ void s8_s8_32(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    int c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = a_values[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = b_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void s8_u8_32(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    int c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = a_values[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = b_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void u8_s8_32(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    int c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = a_values[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = b_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void u8_u8_32(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    int c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = a_values[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = b_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void s8_s8_16(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[1];
    int c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = a_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = b_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void u8_u8_16(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[1];
    int c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = a_values[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = b_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = c_values[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) y[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void s8_s8_8(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[1], b[1];
    int c[2], d[2];
    for (int n = 0; n < 1; ++n) a[n] = a_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = b_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = c_values[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]));
    for (int n = 0; n < 2; ++n) y[(w * 2 + n) * 32 + i] = d[n];
}
__global__ void u8_s8_8(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[1], b[1];
    int c[2], d[2];
    for (int n = 0; n < 1; ++n) a[n] = a_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = b_values[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = c_values[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]));
    for (int n = 0; n < 2; ++n) y[(w * 2 + n) * 32 + i] = d[n];
}
