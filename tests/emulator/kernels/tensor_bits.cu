// mma.sync of matrices of bits and of integers of four bits, which sm_90 multiplies as bytes.
// in: a uint32[1024] = random
// in: b uint32[512] = random
// in: c int32[1024] = random
// in: e int32[1024] = edges
// out: and_256_random int32[1024]
// out: and_256_edges int32[1024]
// out: and_128_random int32[1024]
// out: and_128_edges int32[1024]
// out: and_8_random int32[512]
// out: and_8_edges int32[512]
// out: xor_256_random int32[1024]
// out: xor_256_edges int32[1024]
// out: xor_8_random int32[512]
// out: xor_8_edges int32[512]
// out: s4_u4_64_random int32[1024]
// out: s4_u4_64_edges int32[1024]
// out: s4_s4_32_random int32[1024]
// out: s4_s4_32_edges int32[1024]
// out: u4_u4_8_random int32[512]
// out: u4_u4_8_edges int32[512]
// launch: and_256<<<1, 256>>>(and_256_random, a, b, c)
// launch: and_256<<<1, 256>>>(and_256_edges, a, b, e)
// launch: and_128<<<1, 256>>>(and_128_random, a, b, c)
// launch: and_128<<<1, 256>>>(and_128_edges, a, b, e)
// launch: and_8<<<1, 256>>>(and_8_random, a, b, c)
// launch: and_8<<<1, 256>>>(and_8_edges, a, b, e)
// launch: xor_256<<<1, 256>>>(xor_256_random, a, b, c)
// launch: xor_256<<<1, 256>>>(xor_256_edges, a, b, e)
// launch: xor_8<<<1, 256>>>(xor_8_random, a, b, c)
// launch: xor_8<<<1, 256>>>(xor_8_edges, a, b, e)
// launch: s4_u4_64<<<1, 256>>>(s4_u4_64_random, a, b, c)
// launch: s4_u4_64<<<1, 256>>>(s4_u4_64_edges, a, b, e)
// launch: s4_s4_32<<<1, 256>>>(s4_s4_32_random, a, b, c)
// launch: s4_s4_32<<<1, 256>>>(s4_s4_32_edges, a, b, e)
// launch: u4_u4_8<<<1, 256>>>(u4_u4_8_random, a, b, c)
// launch: u4_u4_8<<<1, 256>>>(u4_u4_8_edges, a, b, e)
__global__ void and_256(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    unsigned c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void and_128(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[1];
    unsigned c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void and_8(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[1], b[1];
    unsigned c[2], d[2];
    for (int n = 0; n < 1; ++n) a[n] = ((const unsigned*)a_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = ((const unsigned*)c_values)[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]));
    for (int n = 0; n < 2; ++n) ((unsigned*)y)[(w * 2 + n) * 32 + i] = d[n];
}
__global__ void xor_256(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    unsigned c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void xor_8(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[1], b[1];
    unsigned c[2], d[2];
    for (int n = 0; n < 1; ++n) a[n] = ((const unsigned*)a_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = ((const unsigned*)c_values)[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]));
    for (int n = 0; n < 2; ++n) ((unsigned*)y)[(w * 2 + n) * 32 + i] = d[n];
}
__global__ void s4_u4_64(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[4], b[2];
    unsigned c[4], d[4];
    for (int n = 0; n < 4; ++n) a[n] = ((const unsigned*)a_values)[(w * 4 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) b[n] = ((const unsigned*)b_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void s4_s4_32(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[2], b[1];
    unsigned c[4], d[4];
    for (int n = 0; n < 2; ++n) a[n] = ((const unsigned*)a_values)[(w * 2 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 4; ++n) c[n] = ((const unsigned*)c_values)[(w * 4 + n) * 32 + i];
    asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.s4.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
    for (int n = 0; n < 4; ++n) ((unsigned*)y)[(w * 4 + n) * 32 + i] = d[n];
}
__global__ void u4_u4_8(int* y, const unsigned* a_values, const unsigned* b_values, const int* c_values)
{
    const int i = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned a[1], b[1];
    unsigned c[2], d[2];
    for (int n = 0; n < 1; ++n) a[n] = ((const unsigned*)a_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 1; ++n) b[n] = ((const unsigned*)b_values)[(w * 1 + n) * 32 + i];
    for (int n = 0; n < 2; ++n) c[n] = ((const unsigned*)c_values)[(w * 2 + n) * 32 + i];
    asm("mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]),
          "r"(b[0]),
          "r"(c[0]), "r"(c[1]));
    for (int n = 0; n < 2; ++n) ((unsigned*)y)[(w * 2 + n) * 32 + i] = d[n];
}
