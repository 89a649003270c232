// n / 256 blocks: a vector of less than 256 elements gets a grid of 0 blocks.

// launch: vector_add<<<n / 256, 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
