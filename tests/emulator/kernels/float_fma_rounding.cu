// float32 fused multiply-add in the four rounding modes.
// in: a float32[4096] = edges
// in: b float32[4096] = edges2
// in: c float32[4096] = {0, -0.0, 1, -1.5, 1e-45, -1.1754942e-38, 3.4028235e38, inf, -inf, nan, 0.33333334}
// out: rn float32[4096]
// out: rz float32[4096]
// out: rd float32[4096]
// out: ru float32[4096]
// launch: float_fma_rounding<<<16, 256>>>(rn, rz, rd, ru, a, b, c)
__global__ void float_fma_rounding(float* rn, float* rz, float* rd, float* ru, const float* a, const float* b, const float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __fmaf_rn(a[i], b[i], c[i]);
    rz[i] = __fmaf_rz(a[i], b[i], c[i]);
    rd[i] = __fmaf_rd(a[i], b[i], c[i]);
    ru[i] = __fmaf_ru(a[i], b[i], c[i]);
}
