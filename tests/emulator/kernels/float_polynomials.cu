// Library functions of float32 without approximations of the hardware: atan, erf, cbrt, log1p.
// in: a float32[256] = edges
// out: arc float32[256]
// out: error float32[256]
// out: log_plus float32[256]
// launch: float_polynomials<<<1, 256>>>(arc, error, log_plus, a)
__global__ void float_polynomials(float* arc, float* error, float* log_plus, const float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    arc[i] = atanf(a[i]);
    error[i] = erff(a[i]);
    log_plus[i] = log1pf(a[i]);
}
