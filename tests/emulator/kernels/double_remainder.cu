// fmod of float64.
// in: a float64[1024] = edges
// in: b float64[1024] = edges2
// out: mod float64[1024]
// launch: double_remainder<<<4, 256>>>(mod, a, b)
__global__ void double_remainder(double* mod, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mod[i] = fmod(a[i], b[i]);
}
