// The tree of Blelloch: fewer additions than the naive kernel, twice as many steps, and bank conflicts.
#define THREADS 1024
#define TILE THREADS
// scratch: int sums[ceil_div(n, TILE)]
// launch: scan_blocks<<<ceil_div(n, TILE), THREADS>>>(out, sums, in, n)
// launch: scan_sums<<<1, THREADS>>>(sums, ceil_div(n, TILE))
// launch: add_sums<<<ceil_div(n, TILE), THREADS>>>(out, sums, n)

// Scans the values of the threads of a block with 2 * THREADS additions: sums of pairs upwards, then downwards.
__device__ int scan_block(int value, int& total)
{
    __shared__ int values[THREADS];
    values[threadIdx.x] = value;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        int at = 2 * apart * (threadIdx.x + 1) - 1;
        if (at < THREADS) values[at] += values[at - apart];
    }
    __syncthreads();
    total = values[THREADS - 1];
    __syncthreads();
    if (threadIdx.x == 0) values[THREADS - 1] = 0;
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        __syncthreads();
        int at = 2 * apart * (threadIdx.x + 1) - 1;
        if (at < THREADS) {
            int left = values[at - apart];
            values[at - apart] = values[at];
            values[at] += left;
        }
    }
    __syncthreads();
    int before = values[threadIdx.x];
    __syncthreads();
    return before + value;
}

__global__ void scan_blocks(int* out, int* sums, const int* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x, total;
    int value = scan_block(i < n ? in[i] : 0, total);
    if (i < n) out[i] = value;
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
