// Quotients and remainders of 64-bit integers (a divisor of 0 too).
// in: a uint64[1024] = edges
// in: b uint64[1024] = edges2
// out: quotient uint64[1024]
// out: rest uint64[1024]
// out: quotient_signed int64[1024]
// out: rest_signed int64[1024]
// launch: int_divide_wide<<<4, 256>>>(quotient, rest, quotient_signed, rest_signed, a, b)
__global__ void int_divide_wide(
    unsigned long long* quotient,
    unsigned long long* rest,
    long long* quotient_signed,
    long long* rest_signed,
    const unsigned long long* a,
    const unsigned long long* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    quotient[i] = a[i] / b[i];
    rest[i] = a[i] % b[i];
    quotient_signed[i] = (long long)a[i] / (long long)b[i];
    rest_signed[i] = (long long)a[i] % (long long)b[i];
}
