// tanhf, sinhf and expm1f of float32.
// in: a float32[256] = edges
// out: t float32[256]
// out: s float32[256]
// out: x float32[256]
// launch: float_hyperbolic<<<1, 256>>>(t, s, x, a)
__global__ void float_hyperbolic(float* t, float* s, float* x, const float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[i] = tanhf(a[i]);
    s[i] = sinhf(a[i]);
    x[i] = expm1f(a[i]);
}
