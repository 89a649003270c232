// Prefix sums of all numbers: those of each block, those of the blocks' sums by one block, and one
// more pass that adds them.
// run: --size n=1048576 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --input x=normal:n --output y=float32:n
// scratch: float totals[n / 1024]
// launch: scan_blocks<<<n / 1024, 1024>>>(y, totals, x)
// launch: scan_totals<<<1, 1024>>>(totals, n / 1024)
// launch: add_totals<<<n / 1024, 1024>>>(y, totals)

#define THREADS 1024

// The sum of a thread's number and those of the threads before it in the block.
__device__ float scan_block(float sum)
{
    __shared__ float warps[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance)
            sum += before;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        sum += warps[k];
    return sum;
}

__global__ void scan_blocks(float* y, float* totals, const float* x)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const float sum = scan_block(x[i]);
    y[i] = sum;
    if (threadIdx.x == THREADS - 1)
        totals[blockIdx.x] = sum;
}

__global__ void scan_totals(float* totals, int n)
{
    float before = 0.0f;
    __shared__ float last;
    for (int first = 0; first < n; first += THREADS) {
        const int i = first + threadIdx.x;
        const float sum = before + scan_block(i < n ? totals[i] : 0.0f);
        if (i < n)
            totals[i] = sum;
        if (threadIdx.x == THREADS - 1)
            last = sum;
        __syncthreads();
        before = last;
        __syncthreads();
    }
}

__global__ void add_totals(float* y, const float* totals)
{
    if (blockIdx.x > 0)
        y[blockIdx.x * THREADS + threadIdx.x] += totals[blockIdx.x - 1];
}
