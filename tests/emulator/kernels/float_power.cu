// powf of float32.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: p float32[1024]
// launch: float_power<<<4, 256>>>(p, a, b)
__global__ void float_power(float* p, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = powf(a[i], b[i]);
}
