// float32 arithmetic that flushes denormals.
// in: a float32[4096] = edges
// in: b float32[4096] = edges2
// in: c float32[4096] = {0, -0.0, 1, -1.5, 1e-45, -1.1754942e-38, 3.4028235e38, inf, -inf, nan, 0.33333334}
// out: sum float32[4096]
// out: product float32[4096]
// out: fused float32[4096]
// out: least float32[4096]
// launch: float_ftz<<<16, 256>>>(sum, product, fused, least, a, b, c)
__device__ float add_ftz(float x, float y)
{
    float d;
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float mul_ftz(float x, float y)
{
    float d;
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float fma_ftz(float x, float y, float z)
{
    float d;
    asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(x), "f"(y), "f"(z));
    return d;
}
__device__ float min_ftz(float x, float y)
{
    float d;
    asm("min.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__global__ void float_ftz(float* sum, float* product, float* fused, float* least, const float* a, const float* b, const float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = add_ftz(a[i], b[i]);
    product[i] = mul_ftz(a[i], b[i]);
    fused[i] = fma_ftz(a[i], b[i], c[i]);
    least[i] = min_ftz(a[i], b[i]);
}
