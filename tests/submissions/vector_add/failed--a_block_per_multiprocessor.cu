// 132 blocks of 256 threads: each multiprocessor has one, an eighth of the threads that it can hold.
// expect without a model: passed, only a clock tells (the other goals need the speed-up)

// launch: vector_add<<<132, 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}
