// float32 arithmetic with negated and absolute operands.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: sum float32[1024]
// out: product float32[1024]
// out: fused float32[1024]
// launch: float_modifiers<<<4, 256>>>(sum, product, fused, a, b)
__global__ void float_modifiers(float* sum, float* product, float* fused, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = fabsf(a[i]) - b[i];
    product[i] = -a[i] * fabsf(b[i]);
    fused[i] = fmaf(-a[i], b[i], -fabsf(a[i]));
}
