// ex2.approx.f32: edge values and exponents of all sizes, plain and flushing denormals.
// in: a float32[256] = edges
// in: b float32[256] = {0, 0.5, -0.5, 1.25, -126, -126.5, -127, -149, -150, 127.99999, 128, 10.1, -10.1, 0.001, 100.7}
// out: edge float32[256]
// out: edge_ftz float32[256]
// out: y float32[256]
// out: y_ftz float32[256]
// launch: mufu_ex2<<<1, 256>>>(edge, edge_ftz, y, y_ftz, a, b)
__device__ float plain(float x)
{
    float d;
    asm("ex2.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}
__device__ float flushing(float x)
{
    float d;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}
__global__ void mufu_ex2(float* edge, float* edge_ftz, float* y, float* y_ftz, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    edge[i] = plain(a[i]);
    edge_ftz[i] = flushing(a[i]);
    y[i] = plain(b[i]);
    y_ftz[i] = flushing(b[i]);
}
