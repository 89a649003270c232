// rcp.approx and rsqrt.approx of float64: 20 bits of the upper word.
// in: a float64[256] = edges
// in: b float64[256] = {1, 2, 3, 0.1, 1.9999999, 123.456, 1e100, 1e-100, 65537}
// out: inverse float64[256]
// out: root float64[256]
// out: inverse_b float64[256]
// out: root_b float64[256]
// launch: mufu_double<<<1, 256>>>(inverse, root, inverse_b, root_b, a, b)
__device__ double inverse_of(double x)
{
    double d;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(d) : "d"(x));
    return d;
}
__device__ double root_of(double x)
{
    double d;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(d) : "d"(x));
    return d;
}
__global__ void mufu_double(double* inverse, double* root, double* inverse_b, double* root_b, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    inverse[i] = inverse_of(a[i]);
    root[i] = root_of(a[i]);
    inverse_b[i] = inverse_of(b[i]);
    root_b[i] = root_of(b[i]);
}
