// float32 arithmetic clamped to 0 and 1; what -0 and NaNs become.
// in: a float32[4096] = edges
// in: b float32[4096] = edges2
// in: c float32[4096] = {0, -0.0, 1, -1.5, 1e-45, -1.1754942e-38, 3.4028235e38, inf, -inf, nan, 0.33333334}
// out: clamped float32[4096]
// out: sum float32[4096]
// out: product float32[4096]
// out: fused float32[4096]
// launch: float_saturate<<<16, 256>>>(clamped, sum, product, fused, a, b, c)
__device__ float add_sat(float x, float y)
{
    float d;
    asm("add.sat.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float mul_sat(float x, float y)
{
    float d;
    asm("mul.sat.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float fma_sat(float x, float y, float z)
{
    float d;
    asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(x), "f"(y), "f"(z));
    return d;
}
__global__ void float_saturate(float* clamped, float* sum, float* product, float* fused, const float* a, const float* b, const float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    clamped[i] = __saturatef(a[i]);
    sum[i] = add_sat(a[i], b[i]);
    product[i] = mul_sat(a[i], b[i]);
    fused[i] = fma_sat(a[i], b[i], c[i]);
}
