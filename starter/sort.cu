// Radix sort: out contains the n keys of in in ascending order.
//
//   in   n keys of 32 bits, unsigned
//   out  n keys
//
// Each of 32 passes splits the keys by one bit, from the lowest bit to the highest: keys with 0 first, then keys with 1,
// both in the order that they had (the split is stable). Three launches make a pass: `count_zeros` counts the zeros of
// each block, `scan_sums` scans these counts, and `split` moves each key to its place. These three kernels are the
// baseline: keep them as they are. Add your own kernels below, and change the launch lines. README.md of the exercise
// explains how.

#define THREADS 256  // threads of a block
#define WARPS (THREADS / 32)

// The grader launches the kernels by these lines. They may use the names in, out and n, your own #defines, ceil_div,
// min, max, variables and loops, and the buffers of the lines with `scratch`.
//
// scratch: unsigned other[n]
// scratch: int sums[ceil_div(n, THREADS) + 1]
// launch: unsigned *from = in, *to = other, *next = out;
// launch: for (int bit = 0; bit < 32; ++bit) {
// launch:     count_zeros<<<ceil_div(n, THREADS), THREADS>>>(sums, from, n, bit);
// launch:     scan_sums<<<1, THREADS>>>(sums, ceil_div(n, THREADS));
// launch:     split<<<ceil_div(n, THREADS), THREADS>>>(to, from, sums, n, bit);
// launch:     from = to; std::swap(to, next);
// launch: }

__device__ bool is_zero(unsigned key, int bit)
{
    return (key >> bit & 1) == 0;
}

// The sum of the values of this thread and all threads before it in the block.
__device__ int scan_block(int value)
{
    __shared__ int sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int apart = 1; apart < 32; apart *= 2) {
        int before = __shfl_up_sync(0xffffffffu, value, apart);
        if (lane >= apart) value += before;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    for (int before = 0; before < warp; before++) value += sums[before];
    __syncthreads();
    return value;
}

__global__ void count_zeros(int* sums, const unsigned* keys, int n, int bit)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int zeros = __syncthreads_count(i < n && is_zero(keys[i], bit));
    if (threadIdx.x == 0) sums[blockIdx.x] = zeros;
}

// Replaces each sum by the sum of all before it, in a single block; sums[count] gets the sum of all.
__global__ void scan_sums(int* sums, int count)
{
    __shared__ int all;
    int carry = 0;
    for (int first = 0; first < count; first += THREADS) {
        int i = first + threadIdx.x, own = i < count ? sums[i] : 0;
        int scanned = scan_block(own);
        if (i < count) sums[i] = carry + scanned - own;
        if (threadIdx.x == THREADS - 1) all = scanned;
        __syncthreads();
        carry += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[count] = carry;
}

// Moves each key to its place: zeros to the front, ones behind all zeros.
__global__ void split(unsigned* to, const unsigned* from, const int* sums, int n, int bit)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned key = i < n ? from[i] : 0xffffffffu;
    bool zero = is_zero(key, bit);
    int zeros = sums[blockIdx.x] + scan_block(zero) - zero;  // before this key
    if (i < n) to[zero ? zeros : sums[gridDim.x] + i - zeros] = key;
}

// Yours. Four questions:
//   - how often does each key travel in 32 passes, and how often with 4 or 8 bits per pass?
//   - which order have the keys of a block to have, so that neighbouring threads store neighbouring keys?
//   - how does a warp find the keys with the same digit without shared memory?
//   - is the count of the digits of all passes known before the first pass?
