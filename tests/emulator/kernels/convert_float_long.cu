// float32 to 64-bit integers in the four rounding modes: what NaNs become.
// in: a float32[256] = edges
// in: b float32[256] = {-129.5, -128.5, -0.5, 0.5, 1.5, 2.5, 127.5, 255.5, 32767.5, 65535.5, 2147483520, 2147483648, 4294967040, 4294967296, 9.223372e18, 1.8446744e19, -2147483648, -2147483904, -9.223372e18}
// out: a_ll_rn int64[256]
// out: a_ll_rz int64[256]
// out: a_ll_rd int64[256]
// out: a_ll_ru int64[256]
// out: a_ull_rn uint64[256]
// out: a_ull_rz uint64[256]
// out: a_ull_rd uint64[256]
// out: a_ull_ru uint64[256]
// out: b_ll_rn int64[256]
// out: b_ll_rz int64[256]
// out: b_ll_rd int64[256]
// out: b_ll_ru int64[256]
// out: b_ull_rn uint64[256]
// out: b_ull_rz uint64[256]
// out: b_ull_rd uint64[256]
// out: b_ull_ru uint64[256]
// launch: convert_float_long<<<1, 256>>>(a_ll_rn, a_ll_rz, a_ll_rd, a_ll_ru, a_ull_rn, a_ull_rz, a_ull_rd, a_ull_ru, b_ll_rn, b_ll_rz, b_ll_rd, b_ll_ru, b_ull_rn, b_ull_rz, b_ull_rd, b_ull_ru, a, b)
__global__ void convert_float_long(
    long long* a_ll_rn,
    long long* a_ll_rz,
    long long* a_ll_rd,
    long long* a_ll_ru,
    unsigned long long* a_ull_rn,
    unsigned long long* a_ull_rz,
    unsigned long long* a_ull_rd,
    unsigned long long* a_ull_ru,
    long long* b_ll_rn,
    long long* b_ll_rz,
    long long* b_ll_rd,
    long long* b_ll_ru,
    unsigned long long* b_ull_rn,
    unsigned long long* b_ull_rz,
    unsigned long long* b_ull_rd,
    unsigned long long* b_ull_ru,
    const float* a,
    const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_ll_rn[i] = __float2ll_rn(a[i]);
    a_ll_rz[i] = __float2ll_rz(a[i]);
    a_ll_rd[i] = __float2ll_rd(a[i]);
    a_ll_ru[i] = __float2ll_ru(a[i]);
    a_ull_rn[i] = __float2ull_rn(a[i]);
    a_ull_rz[i] = __float2ull_rz(a[i]);
    a_ull_rd[i] = __float2ull_rd(a[i]);
    a_ull_ru[i] = __float2ull_ru(a[i]);
    b_ll_rn[i] = __float2ll_rn(b[i]);
    b_ll_rz[i] = __float2ll_rz(b[i]);
    b_ll_rd[i] = __float2ll_rd(b[i]);
    b_ll_ru[i] = __float2ll_ru(b[i]);
    b_ull_rn[i] = __float2ull_rn(b[i]);
    b_ull_rz[i] = __float2ull_rz(b[i]);
    b_ull_rd[i] = __float2ull_rd(b[i]);
    b_ull_ru[i] = __float2ull_ru(b[i]);
}
