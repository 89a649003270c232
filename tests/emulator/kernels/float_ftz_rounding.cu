// float32 products that flush denormals, in the four rounding modes: is a result that rounds up to the smallest normal one flushed?
// in: a float32[256] = {1.1754942e-38, 1.17549435e-38, 1.1754945e-38, 5.877472e-39, 2.350989e-38, 1.7632415e-38, -1.1754942e-38, 9.4039548e-38}
// in: b float32[256] = {0.99999994, 1, 1.0000001, 0.5, 0.50000006, 0.25, -0.99999994, 0.75, 0.125}
// out: rn float32[256]
// out: rz float32[256]
// out: rd float32[256]
// out: ru float32[256]
// launch: float_ftz_rounding<<<1, 256>>>(rn, rz, rd, ru, a, b)
__device__ float mul_ftz_rn(float x, float y)
{
    float d;
    asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float mul_ftz_rz(float x, float y)
{
    float d;
    asm("mul.rz.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float mul_ftz_rd(float x, float y)
{
    float d;
    asm("mul.rm.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float mul_ftz_ru(float x, float y)
{
    float d;
    asm("mul.rp.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__global__ void float_ftz_rounding(float* rn, float* rz, float* rd, float* ru, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rn[i] = mul_ftz_rn(a[i], b[i]);
    rz[i] = mul_ftz_rz(a[i], b[i]);
    rd[i] = mul_ftz_rd(a[i], b[i]);
    ru[i] = mul_ftz_ru(a[i], b[i]);
}
