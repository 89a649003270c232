// float32 add in the four rounding modes.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: rn float32[1024]
// out: rz float32[1024]
// out: rd float32[1024]
// out: ru float32[1024]
// launch: float_add_rounding<<<4, 256>>>(rn, rz, rd, ru, a, b)
__global__ void float_add_rounding(float* rn, float* rz, float* rd, float* ru, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = __fadd_rn(a[i], b[i]);
    rz[i] = __fadd_rz(a[i], b[i]);
    rd[i] = __fadd_rd(a[i], b[i]);
    ru[i] = __fadd_ru(a[i], b[i]);
}
