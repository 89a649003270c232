// Reference solution of the exercise "reduction": one launch, many elements a thread, shuffles.
//
// A sum is one addition for every 4 bytes that come from memory: nothing may keep the memory waiting.
//
//   - Each thread goes through the vector in strides of the whole grid, and has EACH float4 on their way at the same time.
//     What it has added up stays in registers until all is read.
//   - The 32 lanes of a warp then add their sums by shuffles, which need neither shared memory nor a barrier. One value a
//     warp goes through shared memory.
//   - The block that is the last one to leave its sum adds up the sums of all. A counter tells who that is, and stands at 0
//     again afterwards: atomicInc goes back to 0 behind the last number.

#define THREADS 256
#define BLOCKS 528  // 4 for each of the 132 multiprocessors of an H100
#define EACH 4      // float4 that a thread has on their way
#define WARPS (THREADS / 32)

// scratch: float partial[BLOCKS]
// launch: reduction<<<BLOCKS, THREADS>>>(out, partial, in, n)

__device__ unsigned arrived;  // blocks that have left their sums

// The sum of what the lanes of a warp bring, in all of them.
__device__ float add_up_warp(float value)
{
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
    return value;
}

// The sum of what the threads of a block bring, in all threads of the first warp.
__device__ float add_up(float value)
{
    __shared__ float sums[WARPS];
    value = add_up_warp(value);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;  // survives: with xor all lanes of the warp have the same sum
    __syncthreads();
    return add_up_warp(threadIdx.x < WARPS ? sums[threadIdx.x] : 0.0f);
}

__device__ float add_up_quad(float4 quad)
{
    return (quad.x + quad.y) + (quad.z + quad.w);
}

// The sum of this thread's elements: every (BLOCKS * THREADS)-th float4, and the last few floats one by one.
__device__ float add_up_own(const float* in, int n)
{
    const float4* quads = reinterpret_cast<const float4*>(in);
    const int count = n / 4, stride = BLOCKS * THREADS, first = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    int i = first;
    for (; i < count - (EACH - 1) * stride; i += EACH * stride) {
        float4 some[EACH];
        #pragma unroll
        for (int j = 0; j < EACH; j++) some[j] = quads[i + j * stride];
        #pragma unroll
        for (int j = 0; j < EACH; j++) sum += add_up_quad(some[j]);
    }
    for (; i < count; i += stride) sum += add_up_quad(quads[i]);
    if (first < n - 4 * count) sum += in[4 * count + first];
    return sum;
}

__global__ void __launch_bounds__(THREADS) reduction(float* out, float* partial, const float* in, int n)
{
    __shared__ bool last;
    float sum = add_up(add_up_own(in, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // whoever sees the counter sees the sum, too
        last = atomicInc(&arrived, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = 0.0f;
    for (int i = threadIdx.x; i < BLOCKS; i += THREADS) sum += __ldcg(&partial[i]);
    sum = add_up(sum);
    if (threadIdx.x == 0) out[0] = sum;
}
