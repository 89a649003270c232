// Products of 64-bit integers: low and high words.
// in: a uint64[1024] = edges
// in: b uint64[1024] = edges2
// in: c uint64[1024] = random
// out: low uint64[1024]
// out: high uint64[1024]
// out: high_signed int64[1024]
// launch: int_mul_wide<<<4, 256>>>(low, high, high_signed, a, b, c)
__global__ void int_mul_wide(
    unsigned long long* low,
    unsigned long long* high,
    long long* high_signed,
    const unsigned long long* a,
    const unsigned long long* b,
    const unsigned long long* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    low[i] = a[i] * b[i] + c[i];
    high[i] = __umul64hi(a[i], b[i]);
    high_signed[i] = __mul64hi((long long)a[i], (long long)b[i]);
}
