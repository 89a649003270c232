// Library functions of float32 built on exponentials.
// in: a float32[256] = edges
// out: e float32[256]
// out: e2 float32[256]
// out: l float32[256]
// out: l2 float32[256]
// out: l10 float32[256]
// launch: float_exp_log<<<1, 256>>>(e, e2, l, l2, l10, a)
__global__ void float_exp_log(float* e, float* e2, float* l, float* l2, float* l10, const float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    e[i] = expf(a[i]);
    e2[i] = exp2f(a[i]);
    l[i] = logf(a[i]);
    l2[i] = log2f(a[i]);
    l10[i] = log10f(a[i]);
}
