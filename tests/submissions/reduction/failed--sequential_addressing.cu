// Pairs that lie farthest apart first: neither divergence nor conflicts, but one element a thread.
#define THREADS 256
// scratch: float partial[ceil_div(n, THREADS)]
// launch: block_sums<<<ceil_div(n, THREADS), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, ceil_div(n, THREADS))

__device__ float add_up(float value)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = value;
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        __syncthreads();
        if (threadIdx.x < apart) sums[threadIdx.x] += sums[threadIdx.x + apart];
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
