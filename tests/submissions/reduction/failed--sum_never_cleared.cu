// Atomic additions to what was there before.
#define THREADS 256
#define BLOCKS 1056
// launch: add<<<BLOCKS, THREADS>>>(out, in, n)

__device__ float add_up(float value)
{
    __shared__ float sums[THREADS / 32];
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(0xffffffffu, value, apart);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32)
        for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(0xffffffffu, value, apart);
    return value;
}

__global__ void add(float* out, const float* in, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) sum += in[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
