// __sinf and __cosf of angles in (-pi, pi), and of edge values.
// in: a float32[256] = edges
// in: b float32[256] = {0.1, 0.5, 0.7, 1, 1.2, 2, 2.2, 2.6, 0.25, 0.75, -0.3, -1.1, -2.4}
// out: edge_sine float32[256]
// out: edge_cosine float32[256]
// out: sine float32[256]
// out: cosine float32[256]
// launch: mufu_sin_cos<<<1, 256>>>(edge_sine, edge_cosine, sine, cosine, a, b)
__global__ void mufu_sin_cos(float* edge_sine, float* edge_cosine, float* sine, float* cosine, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    edge_sine[i] = __sinf(a[i]);
    edge_cosine[i] = __cosf(a[i]);
    sine[i] = __sinf(b[i]);
    cosine[i] = __cosf(b[i]);
}
