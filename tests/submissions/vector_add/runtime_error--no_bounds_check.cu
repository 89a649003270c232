// No bounds check: the threads after the last element write beyond the vectors.

// launch: vector_add<<<ceil_div(n, 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}
