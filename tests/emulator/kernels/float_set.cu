// Comparisons of float32 that write a register.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: less float32[1024]
// out: unequal uint32[1024]
// launch: float_set<<<4, 256>>>(less, unequal, a, b)
__device__ float set_less(float x, float y)
{
    float d;
    asm("set.lt.f32.f32 %0, %1, %2;" : "=f"(d) : "f"(x), "f"(y));
    return d;
}
__device__ unsigned int set_unequal(float x, float y)
{
    unsigned int d;
    asm("set.neu.u32.f32 %0, %1, %2;" : "=r"(d) : "f"(x), "f"(y));
    return d;
}
__global__ void float_set(float* less, unsigned int* unequal, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    less[i] = set_less(a[i], b[i]);
    unequal[i] = set_unequal(a[i], b[i]);
}
