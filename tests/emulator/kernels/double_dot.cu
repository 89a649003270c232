// A sum of products of float64 in each thread.
// in: a float64[1024] = normal
// in: b float64[1024] = normal
// out: dot float64[1024]
// launch: double_dot<<<4, 256>>>(dot, a, b)
__device__ double dot_of(const double* a, const double* b, int i)
{
    double sum = 0.0;
    for (int k = 0; k < 16; ++k) {
        sum += a[(i + k) % 1024] * b[(i * 3 + k) % 1024];
    }
    return sum;
}
__global__ void double_dot(double* dot, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    dot[i] = dot_of(a, b, i);
}
