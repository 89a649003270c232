// float32 div in the four rounding modes.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: rn float32[1024]
// out: rz float32[1024]
// out: rd float32[1024]
// out: ru float32[1024]
// launch: float_div_rounding<<<4, 256>>>(rn, rz, rd, ru, a, b)
__global__ void float_div_rounding(float* rn, float* rz, float* rd, float* ru, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __fdiv_rn(a[i], b[i]);
    rz[i] = __fdiv_rz(a[i], b[i]);
    rd[i] = __fdiv_rd(a[i], b[i]);
    ru[i] = __fdiv_ru(a[i], b[i]);
}
