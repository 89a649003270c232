// Softmax of one long vector in one launch: maximum, sum and division, with two barriers of the grid.
// run: --size n=1048576 --size blocks=132 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --size blocks=264 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --size blocks=528 --input x=normal:n --output y=float32:n
// scratch: float parts[2 * blocks]
// scratch: unsigned arrived[1]
// launch: cudaMemset(arrived, 0, 4)
// launch: softmax_of_a_vector<<<blocks, 512>>>(y, x, parts, arrived, n)

__device__ void sync_grid(unsigned* arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned own = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
        unsigned before, now;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived), "r"(own) : "memory");
        do
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
        while (((before ^ now) & 0x80000000u) == 0);
    }
    __syncthreads();
}

template <typename Join>
__device__ float join_block(float value, float first, Join join)
{
    __shared__ float warps[16];
    for (int lane = 16; lane > 0; lane /= 2)
        value = join(value, __shfl_xor_sync(0xFFFFFFFF, value, lane));
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = first;
    for (int warp = 0; warp < 16; warp++)
        value = join(value, warps[warp]);
    __syncthreads();
    return value;
}

template <typename Join>
__device__ float join_grid(float value, float first, float* parts, unsigned* arrived, Join join)
{
    value = join_block(value, first, join);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = value;
    sync_grid(arrived);
    value = first;
    for (int i = threadIdx.x; i < gridDim.x; i += 512)
        value = join(value, __ldcg(&parts[i]));
    return join_block(value, first, join);
}

__global__ void softmax_of_a_vector(float* y, const float* x, float* parts, unsigned* arrived, int n)
{
    const int first = blockIdx.x * 512 + threadIdx.x, step = gridDim.x * 512;
    float most = -1e30f, sum = 0;
    for (int i = first; i < n; i += step)
        most = fmaxf(most, x[i]);
    most = join_grid(most, -1e30f, parts, arrived, [](float a, float b) { return fmaxf(a, b); });
    for (int i = first; i < n; i += step)
        sum += __expf(x[i] - most);
    sum = join_grid(sum, 0.0f, parts + gridDim.x, arrived, [](float a, float b) { return a + b; });
    for (int i = first; i < n; i += step)
        y[i] = __expf(x[i] - most) / sum;
}
