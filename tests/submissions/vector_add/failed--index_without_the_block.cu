// Each block adds the first 256 elements: the index lacks the block.

// launch: vector_add<<<ceil_div(n, 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
