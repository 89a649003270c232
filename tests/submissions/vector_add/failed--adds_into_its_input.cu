// The sum is kept in a, which must not change, and then copied to out.

// launch: vector_add<<<2112, 256>>>(out, a, b, n)

__global__ void vector_add(float* out, float* a, const float* b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        a[i] += b[i];
        out[i] = a[i];
    }
}
