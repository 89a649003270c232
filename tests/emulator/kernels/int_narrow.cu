// Arithmetic in 8 and 16 bits.
// in: a int8[1024] = edges
// in: b int8[1024] = edges2
// in: c int16[1024] = random
// in: d uint16[1024] = random
// out: product int8[1024]
// out: quotient int8[1024]
// out: sum int16[1024]
// out: shifted uint16[1024]
// out: least int16[1024]
// launch: int_narrow<<<4, 256>>>(product, quotient, sum, shifted, least, a, b, c, d)
__global__ void int_narrow(
    signed char* product,
    signed char* quotient,
    short* sum,
    unsigned short* shifted,
    short* least,
    const signed char* a,
    const signed char* b,
    const short* c,
    const unsigned short* d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    product[i] = a[i] * b[i];
    quotient[i] = b[i] ? a[i] / b[i] : 0;
    sum[i] = c[i] + a[i];
    shifted[i] = d[i] >> (b[i] & 15);
    least[i] = min((int)c[i], (int)b[i]);
}
