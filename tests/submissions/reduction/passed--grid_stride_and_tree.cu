// A grid that fits the GPU, float4 in strides, and trees in shared memory: few of them.
#define THREADS 256
#define BLOCKS 1056
// scratch: float partial[BLOCKS]
// launch: block_sums<<<BLOCKS, THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, BLOCKS)

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
    const float4* quads = reinterpret_cast<const float4*>(in);
    float sum = 0.0f;
    int thread = blockIdx.x * THREADS + threadIdx.x;
    #pragma unroll 4
    for (int i = thread; i < n / 4; i += BLOCKS * THREADS) sum += (quads[i].x + quads[i].y) + (quads[i].z + quads[i].w);
    if (thread < n % 4) sum += in[n / 4 * 4 + thread];
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
