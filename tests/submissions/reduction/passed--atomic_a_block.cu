// One atomic addition a block to a sum that a launch before has cleared.
#define THREADS 256
#define BLOCKS 1056
// launch: clear<<<1, 1>>>(out)
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

__global__ void clear(float* out)
{
    out[0] = 0.0f;
}

__global__ void add(float* out, const float* in, int n)
{
    const float4* quads = reinterpret_cast<const float4*>(in);
    float sum = 0.0f;
    int thread = blockIdx.x * THREADS + threadIdx.x;
    #pragma unroll 4
    for (int i = thread; i < n / 4; i += BLOCKS * THREADS) sum += (quads[i].x + quads[i].y) + (quads[i].z + quads[i].w);
    if (thread < n % 4) sum += in[n / 4 * 4 + thread];
    sum = add_up(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
