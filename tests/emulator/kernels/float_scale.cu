// ldexpf, frexpf, logbf and nextafterf: bits and exponents of float32.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: scaled float32[1024]
// out: exponent float32[1024]
// out: next float32[1024]
// launch: float_scale<<<4, 256>>>(scaled, exponent, next, a, b)
__global__ void float_scale(float* scaled, float* exponent, float* next, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    scaled[i] = ldexpf(a[i], i % 300 - 150);
    exponent[i] = logbf(a[i]);
    next[i] = nextafterf(a[i], b[i]);
}
