// Threads beyond the end read and write there.
#define THREADS 1024
#define TILE THREADS
// scratch: int sums[ceil_div(n, TILE)]
// launch: scan_blocks<<<ceil_div(n, TILE), THREADS>>>(out, sums, in, n)
// launch: scan_sums<<<1, THREADS>>>(sums, ceil_div(n, TILE))
// launch: add_sums<<<ceil_div(n, TILE), THREADS>>>(out, sums, n)

__device__ int scan_warp(int value)
{
    for (int apart = 1; apart < 32; apart *= 2) {
        int before = __shfl_up_sync(0xffffffffu, value, apart);
        if (threadIdx.x % 32 >= apart) value += before;
    }
    return value;
}

// Scans one value per thread of the block; `total` gets the sum.
__device__ int scan_block(int value, int& total)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = scan_warp(value);
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) sums[lane] = scan_warp(lane < THREADS / 32 ? sums[lane] : 0);
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    total = sums[THREADS / 32 - 1];
    __syncthreads();
    return value;
}

__global__ void scan_blocks(int* out, int* sums, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x, total;
    int value = scan_block(in[i], total);
    out[i] = value;
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void scan_sums(int* sums, int count)
{
    int carry = 0, total;
    for (int first = 0; first < count; first += THREADS) {
        int i = first + threadIdx.x;
        int value = scan_block(i < count ? sums[i] : 0, total) + carry;
        if (i < count) sums[i] = value;
        carry += total;
    }
}

__global__ void add_sums(int* out, const int* sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}
