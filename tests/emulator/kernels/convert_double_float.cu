// float64 to float32 in the four rounding modes, and back.
// in: a float64[256] = edges
// in: b float64[256] = {1e-46, 7.006492321624085e-46, 7.1e-46, 1.1754943157898258e-38, 3.4028235677973366e38, 3.4028235e38, 1.00000005960464477539, 1.0000001788139343, -1e-46, -3.5e38, 1e300}
// in: c float32[256] = edges
// out: a_rn float32[256]
// out: a_rz float32[256]
// out: a_rd float32[256]
// out: a_ru float32[256]
// out: b_rn float32[256]
// out: b_rz float32[256]
// out: b_rd float32[256]
// out: b_ru float32[256]
// out: widened float64[256]
// launch: convert_double_float<<<1, 256>>>(a_rn, a_rz, a_rd, a_ru, b_rn, b_rz, b_rd, b_ru, widened, a, b, c)
__global__ void convert_double_float(
    float* a_rn,
    float* a_rz,
    float* a_rd,
    float* a_ru,
    float* b_rn,
    float* b_rz,
    float* b_rd,
    float* b_ru,
    double* widened,
    const double* a,
    const double* b,
    const float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_rn[i] = __double2float_rn(a[i]);
    a_rz[i] = __double2float_rz(a[i]);
    a_rd[i] = __double2float_rd(a[i]);
    a_ru[i] = __double2float_ru(a[i]);
    b_rn[i] = __double2float_rn(b[i]);
    b_rz[i] = __double2float_rz(b[i]);
    b_rd[i] = __double2float_rd(b[i]);
    b_ru[i] = __double2float_ru(b[i]);
    widened[i] = (double)c[i];
}
