// float64 mul in the four rounding modes.
// in: a float64[1024] = edges
// in: b float64[1024] = edges2
// out: rn float64[1024]
// out: rz float64[1024]
// out: rd float64[1024]
// out: ru float64[1024]
// launch: double_mul_rounding<<<4, 256>>>(rn, rz, rd, ru, a, b)
__global__ void double_mul_rounding(double* rn, double* rz, double* rd, double* ru, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __dmul_rn(a[i], b[i]);
    rz[i] = __dmul_rz(a[i], b[i]);
    rd[i] = __dmul_rd(a[i], b[i]);
    ru[i] = __dmul_ru(a[i], b[i]);
}
