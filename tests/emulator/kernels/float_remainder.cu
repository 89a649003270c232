// fmodf and remainderf of float32.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: mod float32[1024]
// out: rest float32[1024]
// launch: float_remainder<<<4, 256>>>(mod, rest, a, b)
__global__ void float_remainder(float* mod, float* rest, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mod[i] = fmodf(a[i], b[i]);
    rest[i] = remainderf(a[i], b[i]);
}
