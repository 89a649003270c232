// Still one block, with four times the threads.
// expect without a model: passed, only a clock tells

// launch: vector_add<<<1, 1024>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    for (int i = threadIdx.x; i < n; i += 1024) out[i] = a[i] + b[i];
}
