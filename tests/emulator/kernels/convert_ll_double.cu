// int64 to float64 in the four rounding modes.
// in: a int64[256] = edges
// in: b int64[256] = random
// out: a_rn float64[256]
// out: a_rz float64[256]
// out: a_rd float64[256]
// out: a_ru float64[256]
// out: b_rn float64[256]
// out: b_rz float64[256]
// out: b_rd float64[256]
// out: b_ru float64[256]
// launch: convert_ll_double<<<1, 256>>>(a_rn, a_rz, a_rd, a_ru, b_rn, b_rz, b_rd, b_ru, a, b)
__global__ void convert_ll_double(
    double* a_rn,
    double* a_rz,
    double* a_rd,
    double* a_ru,
    double* b_rn,
    double* b_rz,
    double* b_rd,
    double* b_ru,
    const long long* a,
    const long long* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_rn[i] = __ll2double_rn(a[i]);
    a_rz[i] = __ll2double_rz(a[i]);
    a_rd[i] = __ll2double_rd(a[i]);
    a_ru[i] = __ll2double_ru(a[i]);
    b_rn[i] = __ll2double_rn(b[i]);
    b_rz[i] = __ll2double_rz(b[i]);
    b_rd[i] = __ll2double_rd(b[i]);
    b_ru[i] = __ll2double_ru(b[i]);
}
