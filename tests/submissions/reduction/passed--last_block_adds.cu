// One launch: the last block to leave its sum adds up those of all. Floats in strides of the grid.
#define THREADS 256
#define BLOCKS 1056
// scratch: float partial[BLOCKS]
// launch: sum<<<BLOCKS, THREADS>>>(out, partial, in, n)

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

__device__ unsigned arrived;

__global__ void sum(float* out, volatile float* partial, const float* in, int n)
{
    __shared__ bool last;
    float sum = 0.0f;
    #pragma unroll 8
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += BLOCKS * THREADS) sum += in[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&arrived, 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = 0.0f;
    for (int i = threadIdx.x; i < BLOCKS; i += THREADS) sum += partial[i];
    sum = add_up(sum);
    if (threadIdx.x == 0) {
        out[0] = sum;
        arrived = 0;
    }
}
