// No barrier between the steps of the tree.
#define THREADS 256
#define BLOCKS 1056
// scratch: float partial[BLOCKS]
// launch: block_sums<<<BLOCKS, THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, BLOCKS)

__device__ float add_up(float value)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int apart = THREADS / 2; apart > 0; apart /= 2)
        if (threadIdx.x < apart) sums[threadIdx.x] += sums[threadIdx.x + apart];
    return sums[0];
}

__global__ void block_sums(float* partial, const float* in, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += in[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void total(float* out, const float* partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) out[0] = sum;
}
