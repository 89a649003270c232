// The bound is i <= n: one element beyond the vectors is written.

// launch: vector_add<<<ceil_div(n + 1, 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = a[i] + b[i];
}
