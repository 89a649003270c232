// float64 square root and reciprocal in the four rounding modes.
// in: a float64[256] = edges
// out: rn float64[256]
// out: rz float64[256]
// out: rd float64[256]
// out: ru float64[256]
// out: rrn float64[256]
// out: rrz float64[256]
// out: rrd float64[256]
// out: rru float64[256]
// launch: double_sqrt_rounding<<<1, 256>>>(rn, rz, rd, ru, rrn, rrz, rrd, rru, a)
__global__ void double_sqrt_rounding(
    double* rn,
    double* rz,
    double* rd,
    double* ru,
    double* rrn,
    double* rrz,
    double* rrd,
    double* rru,
    const double* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __dsqrt_rn(a[i]);
    rz[i] = __dsqrt_rz(a[i]);
    rd[i] = __dsqrt_rd(a[i]);
    ru[i] = __dsqrt_ru(a[i]);
    rrn[i] = __drcp_rn(a[i]);
    rrz[i] = __drcp_rz(a[i]);
    rrd[i] = __drcp_rd(a[i]);
    rru[i] = __drcp_ru(a[i]);
}
