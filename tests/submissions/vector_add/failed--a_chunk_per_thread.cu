// Each thread adds 32 elements that are next to each other, as a thread of a processor would: the lanes of a warp are 128 bytes apart.
// expect without a model: passed, only a clock tells (coalescing counts only with the speed-up)

// launch: vector_add<<<ceil_div(n, 32 * 256), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int first = 32 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 32 && i < n; i++) out[i] = a[i] + b[i];
}
