// The number of the block is added to that of the thread, not multiplied by the block's size first.

// launch: vector_add<<<ceil_div(n, 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
