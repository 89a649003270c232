// Signs of float32: negation, absolute value, copysign.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: minus float32[1024]
// out: size float32[1024]
// out: minus_size float32[1024]
// out: signed_like float32[1024]
// launch: float_negate<<<4, 256>>>(minus, size, minus_size, signed_like, a, b)
__global__ void float_negate(float* minus, float* size, float* minus_size, float* signed_like, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    minus[i] = -a[i];
    size[i] = fabsf(a[i]);
    minus_size[i] = -fabsf(a[i]);
    signed_like[i] = copysignf(a[i], b[i]);
}
