// Library functions of float64: exp, log, pow, atan.
// in: a float64[1024] = edges
// in: b float64[1024] = edges2
// out: e float64[1024]
// out: l float64[1024]
// out: p float64[1024]
// out: arc float64[1024]
// launch: double_library<<<4, 256>>>(e, l, p, arc, a, b)
__global__ void double_library(double* e, double* l, double* p, double* arc, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    e[i] = exp(a[i]);
    l[i] = log(a[i]);
    p[i] = pow(a[i], b[i]);
    arc[i] = atan(a[i]);
}
