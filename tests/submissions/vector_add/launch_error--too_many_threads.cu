// A block of 2,048 threads: a block has at most 1,024.

// launch: vector_add<<<ceil_div(n, 2048), 2048>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
