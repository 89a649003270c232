// Minimum and maximum of float32 with NaNs that win.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: least float32[1024]
// out: most float32[1024]
// launch: float_min_max_nan<<<4, 256>>>(least, most, a, b)
__device__ float least_or_nan(float x, float y)
{
    float d;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ float most_or_nan(float x, float y)
{
    float d;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__global__ void float_min_max_nan(float* least, float* most, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    least[i] = least_or_nan(a[i], b[i]);
    most[i] = most_or_nan(a[i], b[i]);
}
