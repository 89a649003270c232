// sqrt.approx.f32: edge values and others, plain and flushing denormals.
// in: a float32[256] = edges
// in: b float32[256] = {1, 2, 3, 0.1, 0.7, 1.9999999, 123.456, 1e10, 1e-10, 5.5e30, 3.3e-30, 0.33333334, 17.25, 65537, 0.99999994}
// out: edge float32[256]
// out: edge_ftz float32[256]
// out: y float32[256]
// launch: mufu_sqrt<<<1, 256>>>(edge, edge_ftz, y, a, b)
__device__ float plain(float x)
{
    float d;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}
__device__ float flushing(float x)
{
    float d;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}
__global__ void mufu_sqrt(float* edge, float* edge_ftz, float* y, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    edge[i] = plain(a[i]);
    edge_ftz[i] = flushing(a[i]);
    y[i] = plain(b[i]);
}
