// tanh.approx.f32: edge values and others.
// in: a float32[256] = edges
// in: b float32[256] = {0.1, 0.5, 0.7, 1, 1.2, 2, 2.2, 2.6, 0.25, 0.75, -0.3, -1.1, -2.4}
// out: edge float32[256]
// out: y float32[256]
// launch: mufu_tanh<<<1, 256>>>(edge, y, a, b)
__device__ float plain(float x)
{
    float d;
    asm("tanh.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}
__global__ void mufu_tanh(float* edge, float* y, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    edge[i] = plain(a[i]);
    y[i] = plain(b[i]);
}
