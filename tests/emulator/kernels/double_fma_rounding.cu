// float64 fused multiply-add in the four rounding modes.
// in: a float64[4096] = edges
// in: b float64[4096] = edges2
// in: c float64[4096] = {0, -0.0, 1, -1.5, 5e-324, -2.225073858507201e-308, 1.7976931348623157e308, inf, -inf, nan, 0.3333333333333333}
// out: rn float64[4096]
// out: rz float64[4096]
// out: rd float64[4096]
// out: ru float64[4096]
// launch: double_fma_rounding<<<16, 256>>>(rn, rz, rd, ru, a, b, c)
__global__ void double_fma_rounding(double* rn, double* rz, double* rd, double* ru, const double* a, const double* b, const double* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __fma_rn(a[i], b[i], c[i]);
    rz[i] = __fma_rz(a[i], b[i], c[i]);
    rd[i] = __fma_rd(a[i], b[i], c[i]);
    ru[i] = __fma_ru(a[i], b[i], c[i]);
}
