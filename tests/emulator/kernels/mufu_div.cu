// Approximate divisions: __fdividef and div.full.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: fast float32[1024]
// out: full float32[1024]
// launch: mufu_div<<<4, 256>>>(fast, full, a, b)
__device__ float full_division(float x, float y)
{
    float d;
    asm("div.full.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__global__ void mufu_div(float* fast, float* full, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    fast[i] = __fdividef(a[i], b[i]);
    full[i] = full_division(a[i], b[i]);
}
