// The index is an unsigned short: it starts again from 0 after 65,535.

// launch: vector_add<<<ceil_div(n, 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    unsigned short i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
