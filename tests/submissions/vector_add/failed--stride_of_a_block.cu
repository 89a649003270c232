// A grid of four blocks, but the stride of the loop is one block: blocks add the same elements again.
// expect without a model: passed, only a clock tells (the other goals need the speed-up)

// launch: vector_add<<<min(ceil_div(n, 256), 4), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) out[i] = a[i] + b[i];
}
