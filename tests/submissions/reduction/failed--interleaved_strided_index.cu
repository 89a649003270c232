// Interleaved pairs, but by neighbouring threads: no divergence until the end, and conflicts of up to 16 ways.
#define THREADS 256
// scratch: float partial[ceil_div(n, THREADS)]
// launch: block_sums<<<ceil_div(n, THREADS), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, ceil_div(n, THREADS))

__device__ float add_up(float value)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = value;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        int i = 2 * apart * threadIdx.x;
        if (i < THREADS) sums[i] += sums[i + apart];
    }
    return sums[0];
}

__global__ void block_sums(float* partial, const float* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = add_up(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void total(float* out, const float* partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) out[0] = sum;
}
