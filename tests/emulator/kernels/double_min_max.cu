// Minimum and maximum of float64.
// in: a float64[1024] = edges
// in: b float64[1024] = edges2
// out: least float64[1024]
// out: most float64[1024]
// launch: double_min_max<<<4, 256>>>(least, most, a, b)
__global__ void double_min_max(double* least, double* most, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    least[i] = fmin(a[i], b[i]);
    most[i] = fmax(a[i], b[i]);
}
