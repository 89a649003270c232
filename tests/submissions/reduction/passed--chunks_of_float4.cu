// Each block adds a chunk of the vector, 8 float4 a thread at a time; a second launch adds the blocks' sums.
#define THREADS 256
#define EACH 8
#define CHUNK (4 * THREADS * EACH)
// scratch: float partial[ceil_div(n, CHUNK)]
// launch: block_sums<<<ceil_div(n, CHUNK), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, ceil_div(n, CHUNK))

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

__device__ float4 read_quad(const float* in, int first, int n)
{
    if (first + 4 <= n) return *reinterpret_cast<const float4*>(in + first);
    float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first + 0 < n) quad.x = in[first + 0];
    if (first + 1 < n) quad.y = in[first + 1];
    if (first + 2 < n) quad.z = in[first + 2];
    return quad;
}

__global__ void block_sums(float* partial, const float* in, int n)
{
    float4 quads[EACH];
    #pragma unroll
    for (int j = 0; j < EACH; j++) quads[j] = read_quad(in, blockIdx.x * CHUNK + 4 * (j * THREADS + threadIdx.x), n);
    float sum = 0.0f;
    #pragma unroll
    for (int j = 0; j < EACH; j++) sum += (quads[j].x + quads[j].y) + (quads[j].z + quads[j].w);
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
