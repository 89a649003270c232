// float64 division and square root of all sorts of bit patterns.
// in: a float64[4096] = random
// in: b float64[4096] = random
// out: quotient float64[4096]
// out: root float64[4096]
// out: inverse_root float64[4096]
// launch: double_div_random<<<16, 256>>>(quotient, root, inverse_root, a, b)
__global__ void double_div_random(double* quotient, double* root, double* inverse_root, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    quotient[i] = a[i] / b[i];
    root[i] = sqrt(a[i]);
    inverse_root[i] = rsqrt(a[i]);
}
