// Prefix sum (inclusive scan) of a vector: out[i] = in[0] + in[1] + ... + in[i].
//
//   in   n integers of 32 bits; their sums wrap around
//   out  n integers
//
// Three launches: `scan_blocks` scans THREADS elements per block and stores the sum of each block, `scan_sums` scans
// these sums, and `add_sums` adds to each block the sum of all blocks before it. `scan_blocks_naive` is the baseline,
// together with `scan_sums` and `add_sums`: do not change these three. `scan_blocks` is yours: it starts as a copy of
// the baseline. You may add kernels, and you need not use `scan_sums` and `add_sums`. README.md of the exercise
// explains how to improve it.

#define THREADS 1024  // threads of a block

// The grader launches the kernels by these lines, in order. They may use the names in, out and n, your own #defines,
// ceil_div, min, max and + - * / %, and `sums`, which the line with `scratch` declares. Change them if you change the
// kernels.
//
// scratch: int sums[ceil_div(n, THREADS)]
// launch: scan_blocks<<<ceil_div(n, THREADS), THREADS>>>(out, sums, in, n)
// launch: scan_sums<<<1, THREADS>>>(sums, ceil_div(n, THREADS))
// launch: add_sums<<<ceil_div(n, THREADS), THREADS>>>(out, sums, n)

// Scans the values of the threads of a block. Each step adds the value that is 1, 2, 4, ... threads before.
__device__ int scan_block_naive(int value)
{
    __shared__ int values[THREADS];
    values[threadIdx.x] = value;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        int before = threadIdx.x >= apart ? values[threadIdx.x - apart] : 0;
        __syncthreads();
        values[threadIdx.x] += before;
    }
    value = values[threadIdx.x];
    __syncthreads();  // the next call overwrites the array
    return value;
}

// The baseline: a block scans THREADS elements.
__global__ void scan_blocks_naive(int* out, int* sums, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int value = scan_block_naive(i < n ? in[i] : 0);
    if (i < n) out[i] = value;
    if (threadIdx.x == THREADS - 1) sums[blockIdx.x] = value;
}

// Scans the sums of the blocks in place, in a single block.
__global__ void scan_sums(int* sums, int count)
{
    __shared__ int carry;
    if (threadIdx.x == 0) carry = 0;
    for (int first = 0; first < count; first += THREADS) {
        int i = first + threadIdx.x;
        int value = scan_block_naive(i < count ? sums[i] : 0) + carry;
        if (i < count) sums[i] = value;
        __syncthreads();  // all threads have read carry
        if (threadIdx.x == THREADS - 1) carry = value;
    }
}

// Adds to each element the sum of all blocks before its own.
__global__ void add_sums(int* out, const int* sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

// Yours. Four questions:
//   - how many additions and barriers does a block of 1,024 elements execute, and how many does a loop need?
//   - do neighbours in a warp need shared memory to exchange values?
//   - how many elements should a thread scan before it waits for the others?
//   - how often does each element travel between the memory and the multiprocessors?
__global__ void scan_blocks(int* out, int* sums, const int* in, int n)
{
    __shared__ int values[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    values[threadIdx.x] = i < n ? in[i] : 0;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        int before = threadIdx.x >= apart ? values[threadIdx.x - apart] : 0;
        __syncthreads();
        values[threadIdx.x] += before;
    }
    if (i < n) out[i] = values[threadIdx.x];
    if (threadIdx.x == THREADS - 1) sums[blockIdx.x] = values[threadIdx.x];
}
