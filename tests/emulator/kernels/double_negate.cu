// Signs of float64: negation, absolute value, copysign.
// in: a float64[1024] = edges
// in: b float64[1024] = edges2
// out: minus float64[1024]
// out: size float64[1024]
// out: signed_like float64[1024]
// launch: double_negate<<<4, 256>>>(minus, size, signed_like, a, b)
__global__ void double_negate(double* minus, double* size, double* signed_like, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    minus[i] = -a[i];
    size[i] = fabs(a[i]);
    signed_like[i] = copysign(a[i], b[i]);
}
