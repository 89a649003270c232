// float64 rounded to integral values in every direction.
// in: a float64[256] = edges
// in: b float64[256] = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 4503599627370495.5, -4503599627370495.5, 5e-324, -5e-324}
// out: floor_a float64[256]
// out: ceil_a float64[256]
// out: trunc_a float64[256]
// out: rint_a float64[256]
// out: floor_b float64[256]
// out: ceil_b float64[256]
// out: trunc_b float64[256]
// out: rint_b float64[256]
// launch: double_round_integral<<<1, 256>>>(floor_a, ceil_a, trunc_a, rint_a, floor_b, ceil_b, trunc_b, rint_b, a, b)
__global__ void double_round_integral(
    double* floor_a,
    double* ceil_a,
    double* trunc_a,
    double* rint_a,
    double* floor_b,
    double* ceil_b,
    double* trunc_b,
    double* rint_b,
    const double* a,
    const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    floor_a[i] = floor(a[i]);
    ceil_a[i] = ceil(a[i]);
    trunc_a[i] = trunc(a[i]);
    rint_a[i] = rint(a[i]);
    floor_b[i] = floor(b[i]);
    ceil_b[i] = ceil(b[i]);
    trunc_b[i] = trunc(b[i]);
    rint_b[i] = rint(b[i]);
}
