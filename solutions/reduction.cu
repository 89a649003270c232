// Reference solution of the exercise "reduction": one launch, many elements per thread, shuffles.
//
// A sum needs one addition for every 4 bytes from memory, so the memory must always be busy.
//
//   - Each thread goes through the vector in strides of the whole grid, and has EACH float4 in flight at the same time.
//     Its sum stays in registers until it has read all its elements.
//   - The 32 lanes of a warp then add their sums by shuffles, which need neither shared memory nor a barrier. One value
//     per warp goes through shared memory.
//   - The last block to store its sum adds the sums of all blocks. A counter identifies this block. It is 0 again
//     afterwards: after the last number, atomicInc returns to 0.

#define THREADS 256
#define BLOCKS 528  // 4 for each of the 132 multiprocessors of an H100
#define EACH 4      // float4 that a thread has in flight
#define WARPS (THREADS / 32)

// scratch: float partial[BLOCKS]
// launch: reduction<<<BLOCKS, THREADS>>>(out, partial, in, n)

__device__ unsigned arrived;  // blocks that have stored their sums

// Adds the values of the lanes of a warp; all lanes get the sum.
__device__ float add_up_warp(float value)
{
    #pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
    return value;
}

// Adds the values of the threads of a block; all threads of the first warp get the sum.
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

// The sum of this thread's elements: every (BLOCKS * THREADS)-th float4, and the last few floats singly.
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
        __threadfence();  // a thread that sees the counter also sees the sum
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
