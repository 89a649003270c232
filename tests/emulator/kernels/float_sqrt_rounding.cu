// float32 square root and reciprocal in the four rounding modes.
// in: a float32[256] = edges
// out: rn float32[256]
// out: rz float32[256]
// out: rd float32[256]
// out: ru float32[256]
// out: rrn float32[256]
// out: rrz float32[256]
// out: rrd float32[256]
// out: rru float32[256]
// launch: float_sqrt_rounding<<<1, 256>>>(rn, rz, rd, ru, rrn, rrz, rrd, rru, a)
__global__ void float_sqrt_rounding(
    float* rn,
    float* rz,
    float* rd,
    float* ru,
    float* rrn,
    float* rrz,
    float* rrd,
    float* rru,
    const float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __fsqrt_rn(a[i]);
    rz[i] = __fsqrt_rz(a[i]);
    rd[i] = __fsqrt_rd(a[i]);
    ru[i] = __fsqrt_ru(a[i]);
    rrn[i] = __frcp_rn(a[i]);
    rrz[i] = __frcp_rz(a[i]);
    rrd[i] = __frcp_rd(a[i]);
    rru[i] = __frcp_ru(a[i]);
}
