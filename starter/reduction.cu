// Sum of a vector: out[0] = in[0] + in[1] + ... + in[n - 1].
//
//   in   n floats
//   out  1 float
//
// The file has three kernels. The first is the baseline. `total` adds the block sums of either of the others. Do not
// change these two. `block_sums` is yours: it starts as a copy of the baseline. It is correct, but half of its threads
// are idle from the first step on, and soon nearly all. README.md of the exercise explains how to improve it.

#define THREADS 256  // threads of a block: a power of two

// The grader launches the kernels by these lines, in order. They may use the names in, out and n, your own #defines,
// ceil_div, min, max and + - * / %, and `partial`, which the line with `scratch` declares. Change them if you change
// the kernel.
//
// scratch: float partial[ceil_div(n, THREADS)]
// launch: block_sums<<<ceil_div(n, THREADS), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, ceil_div(n, THREADS))

// Adds the values of the threads of a block; thread 0 gets the sum. Each step adds pairs that are twice as far apart:
// threads 0, 2, 4, ... first, then 0, 4, 8, ..., then 0, 8, 16, ...
__device__ float add_up_naive(float value)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = value;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * apart) == 0) sums[threadIdx.x] += sums[threadIdx.x + apart];
    }
    return sums[0];  // thread 0 has added the last pair itself
}

// The baseline: a block adds THREADS elements.
__global__ void block_sums_naive(float* partial, const float* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = add_up_naive(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Adds the sums of the blocks, in a single block.
__global__ void total(float* out, const float* partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
    sum = add_up_naive(sum);
    if (threadIdx.x == 0) out[0] = sum;
}

// Yours. Four questions:
//   - which threads of a warp work in each step?
//   - which banks do they access?
//   - do neighbours in a warp need shared memory to exchange values?
//   - how many elements should a thread add before it waits for the others?
__global__ void block_sums(float* partial, const float* in, int n)
{
    __shared__ float sums[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0.0f;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * apart) == 0) sums[threadIdx.x] += sums[threadIdx.x + apart];
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
