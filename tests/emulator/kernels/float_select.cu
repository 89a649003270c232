// Selection between float32 by a comparison: bits of NaNs are kept.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// in: c float32[1024] = {0, -0.0, 1, -1.5, 1e-45, -1.1754942e-38, 3.4028235e38, inf, -inf, nan, 0.33333334}
// out: chosen float32[1024]
// out: kept float32[1024]
// launch: float_select<<<4, 256>>>(chosen, kept, a, b, c)
__global__ void float_select(float* chosen, float* kept, const float* a, const float* b, const float* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    chosen[i] = a[i] < b[i] ? b[i] : c[i];
    kept[i] = a[i] != a[i] ? a[i] : b[i];
}
