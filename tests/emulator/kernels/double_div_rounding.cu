// float64 div in the four rounding modes.
// in: a float64[1024] = edges
// in: b float64[1024] = edges2
// out: rn float64[1024]
// out: rz float64[1024]
// out: rd float64[1024]
// out: ru float64[1024]
// launch: double_div_rounding<<<4, 256>>>(rn, rz, rd, ru, a, b)
__global__ void double_div_rounding(double* rn, double* rz, double* rd, double* ru, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __ddiv_rn(a[i], b[i]);
    rz[i] = __ddiv_rz(a[i], b[i]);
    rd[i] = __ddiv_rd(a[i], b[i]);
    ru[i] = __ddiv_ru(a[i], b[i]);
}
