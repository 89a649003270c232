// Which NaN float64 arithmetic returns: payloads, quiet bits, signs, invalid operations.
// in: a uint64[1024] = {0x7ff0000000000001, 0xfff0000000000002, 0x7ff8000000000003, 0xfff8000000000004, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0}
// in: b uint64[1024] = {0x7ff0000000000005, 0xfff0000000000006, 0x7ff8000000000007, 0xfff8000000000008, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0, 0x8000000000000000}
// in: c uint64[1024] = {0x7ff0000000000009, 0xfff800000000000a, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000}
// out: sum uint64[1024]
// out: difference uint64[1024]
// out: product uint64[1024]
// out: fused uint64[1024]
// out: negated uint64[1024]
// out: upwards uint64[1024]
// launch: double_nan<<<4, 256>>>(sum, difference, product, fused, negated, upwards, a, b, c)
__device__ double value(unsigned long long bits) { return __longlong_as_double(bits); }
__device__ unsigned long long bits(double value) { return __double_as_longlong(value); }
__global__ void double_nan(
    unsigned long long* sum,
    unsigned long long* difference,
    unsigned long long* product,
    unsigned long long* fused,
    unsigned long long* negated,
    unsigned long long* upwards,
    const unsigned long long* a,
    const unsigned long long* b,
    const unsigned long long* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = bits(value(a[i]) + value(b[i]));
    difference[i] = bits(value(a[i]) - value(b[i]));
    product[i] = bits(value(a[i]) * value(b[i]));
    fused[i] = bits(fma(value(a[i]), value(b[i]), value(c[i])));
    negated[i] = bits(fma(-value(a[i]), value(b[i]), -value(c[i])));
    upwards[i] = bits(__dadd_ru(value(a[i]), value(b[i])));
}
