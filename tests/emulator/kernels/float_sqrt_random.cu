// float32 square root and reciprocal of all sorts of bit patterns.
// in: a float32[4096] = random
// out: root float32[4096]
// out: inverse float32[4096]
// launch: float_sqrt_random<<<16, 256>>>(root, inverse, a)
__global__ void float_sqrt_random(float* root, float* inverse, const float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    root[i] = sqrtf(a[i]);
    inverse[i] = 1.0f / a[i];
}
