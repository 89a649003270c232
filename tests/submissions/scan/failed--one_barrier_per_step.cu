// Threads read values that others have overwritten already: a barrier between reading and adding is missing.
#define THREADS 1024
// scratch: int sums[ceil_div(n, THREADS)]
// launch: scan_blocks<<<ceil_div(n, THREADS), THREADS>>>(out, sums, in, n)
// launch: scan_sums<<<1, THREADS>>>(sums, ceil_div(n, THREADS))
// launch: add_sums<<<ceil_div(n, THREADS), THREADS>>>(out, sums, n)

// Scans the values of the threads of a block. Each step adds the value that is 1, 2, 4, ... threads before.
__device__ int scan_block(int value, int& total)
{
    __shared__ int values[THREADS];
    values[threadIdx.x] = value;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        if (threadIdx.x >= apart) values[threadIdx.x] += values[threadIdx.x - apart];
    }
    __syncthreads();
    value = values[threadIdx.x];
    total = values[THREADS - 1];
    __syncthreads();
    return value;
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
