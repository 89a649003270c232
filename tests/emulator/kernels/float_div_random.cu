// float32 division of all sorts of bit patterns.
// in: a float32[4096] = random
// in: b float32[4096] = random
// out: quotient float32[4096]
// launch: float_div_random<<<16, 256>>>(quotient, a, b)
__global__ void float_div_random(float* quotient, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    quotient[i] = a[i] / b[i];
}
