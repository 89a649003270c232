// Products of 32-bit integers: low and high words, full, with addend.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: low uint32[1024]
// out: low_add uint32[1024]
// out: high uint32[1024]
// out: high_signed int32[1024]
// out: full uint64[1024]
// out: full_signed int64[1024]
// launch: int_mul<<<4, 256>>>(low, low_add, high, high_signed, full, full_signed, a, b, c)
__global__ void int_mul(
    unsigned int* low,
    unsigned int* low_add,
    unsigned int* high,
    int* high_signed,
    unsigned long long* full,
    long long* full_signed,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    low[i] = a[i] * b[i];
    low_add[i] = a[i] * b[i] + c[i];
    high[i] = __umulhi(a[i], b[i]);
    high_signed[i] = __mulhi((int)a[i], (int)b[i]);
    full[i] = (unsigned long long)a[i] * b[i] + c[i];
    full_signed[i] = (long long)(int)a[i] * (int)b[i] + (int)c[i];
}
