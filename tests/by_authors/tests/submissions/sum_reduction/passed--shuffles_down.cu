// Shuffles down: only the first lane has the sum, and only it writes.

#define THREADS 256
#define EACH 16  // elements of a thread
#define WARPS (THREADS / 32)

// scratch: float partial[ceil_div(n, THREADS * EACH)]
// launch: block_sums<<<ceil_div(n, THREADS * EACH), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, ceil_div(n, THREADS * EACH))

__device__ float add_up_warp(float value)
{
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2)
        value += __shfl_down_sync(0xffffffffu, value, apart);
    return value;
}

__device__ float add_up(float value)
{
    __shared__ float sums[WARPS];
    value = add_up_warp(value);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    return add_up_warp(threadIdx.x < WARPS ? sums[threadIdx.x] : 0.0f);
}

__global__ void block_sums(float* partial, const float* in, int n)
{
    int first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll
    for (int j = 0; j < EACH; j++)
        if (first + j * THREADS < n)
            sum += in[first + j * THREADS];
    sum = add_up(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

__global__ void total(float* out, const float* partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += partial[i];
    sum = add_up(sum);
    if (threadIdx.x == 0)
        out[0] = sum;
}
