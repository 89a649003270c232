// One thread per element, the classic first kernel: each thread computes its index for a single addition.
// expect without a model: passed, only a clock tells (instructions count only with the speed-up)

// launch: vector_add<<<ceil_div(n, 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
