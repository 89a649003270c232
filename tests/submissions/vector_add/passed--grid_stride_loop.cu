// A grid-stride loop: 2,112 blocks, as many as the GPU holds twice over, and each thread adds every element that is a stride of the whole grid away.

// launch: vector_add<<<2112, 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}
