// Steps y = A y of a power iteration, a warp per row, with a barrier of the grid by a counter and a flag.
// run: --size n=2048 --size steps=4 --size blocks=132 --input a=normal:n*n --input x=normal:n --output y=float32:n
// run: --size n=4096 --size steps=2 --size blocks=528 --input a=normal:n*n --input x=normal:n --output y=float32:n
// run: --size n=8192 --size steps=2 --size blocks=264 --input a=normal:n*n --input x=normal:n --output y=float32:n
// scratch: float z[n]
// scratch: unsigned counters[2]
// launch: cudaMemset(counters, 0, 8)
// launch: product_steps<<<blocks, 256>>>(y, z, a, x, counters, n, steps)

__device__ void wait_for_all(unsigned* counters, unsigned round)
{
    volatile unsigned* flag = counters + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (atomicAdd(counters, 1) == (round + 1) * gridDim.x - 1) {
            __threadfence();
            *flag = round + 1;
        }
        while (*flag <= round)
            ;
        __threadfence();
    }
    __syncthreads();
}

__global__ void product_steps(float* y, float* z, const float* a, const float* x, unsigned* counters, int n, int steps)
{
    const int warp = (blockIdx.x * 256 + threadIdx.x) / 32, warps = gridDim.x * 8, lane = threadIdx.x % 32;
    const float* from = x;
    for (int step = 0; step < steps; step++) {
        float* to = (steps - step) % 2 == 1 ? y : z;
        for (int row = warp; row < n; row += warps) {
            float sum = 0;
            for (int k = lane; k < n; k += 32)
                sum += a[(size_t)row * n + k] * __ldcg(&from[k]);
            for (int other = 16; other > 0; other /= 2)
                sum += __shfl_down_sync(0xFFFFFFFF, sum, other);
            if (lane == 0)
                to[row] = sum / n;
        }
        wait_for_all(counters, step);
        from = to;
    }
}
