// float32 rounded to integral values in every direction.
// in: a float32[256] = edges
// in: b float32[256] = {-2.5, -1.5, -0.5, -0.49999997, 0.49999997, 0.5, 1.5, 2.5, 8388607.5, -8388607.5, 1e-45, -1e-45}
// out: floor_a float32[256]
// out: ceil_a float32[256]
// out: trunc_a float32[256]
// out: rint_a float32[256]
// out: floor_b float32[256]
// out: ceil_b float32[256]
// out: trunc_b float32[256]
// out: rint_b float32[256]
// out: round_b float32[256]
// launch: float_round_integral<<<1, 256>>>(floor_a, ceil_a, trunc_a, rint_a, floor_b, ceil_b, trunc_b, rint_b, round_b, a, b)
__global__ void float_round_integral(
    float* floor_a,
    float* ceil_a,
    float* trunc_a,
    float* rint_a,
    float* floor_b,
    float* ceil_b,
    float* trunc_b,
    float* rint_b,
    float* round_b,
    const float* a,
    const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    floor_a[i] = floorf(a[i]);
    ceil_a[i] = ceilf(a[i]);
    trunc_a[i] = truncf(a[i]);
    rint_a[i] = rintf(a[i]);
    floor_b[i] = floorf(b[i]);
    ceil_b[i] = ceilf(b[i]);
    trunc_b[i] = truncf(b[i]);
    rint_b[i] = rintf(b[i]);
    round_b[i] = roundf(b[i]);
}
