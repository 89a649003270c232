// Minimum and maximum of float32: NaNs lose, -0 is less than +0.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: least float32[1024]
// out: most float32[1024]
// out: with_zero float32[1024]
// launch: float_min_max<<<4, 256>>>(least, most, with_zero, a, b)
__global__ void float_min_max(float* least, float* most, float* with_zero, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    least[i] = fminf(a[i], b[i]);
    most[i] = fmaxf(a[i], b[i]);
    with_zero[i] = fmaxf(a[i], 0.0f);
}
