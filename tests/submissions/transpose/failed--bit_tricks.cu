// Swizzle by reversed bits; sizes by popcount, leading zeros and find-first-set. Only a clock tells: 65 % of the peak on an H100.
// expect without a model: passed, only a clock tells (65 % of an H100's peak bandwidth, 80 % are asked)
#define SIDE 32u
// launch: bits<<<dim3(ceil_div(cols, SIDE), ceil_div(rows, SIDE)), dim3(SIDE, SIDE / 4)>>>(out, in, rows, cols)
__device__ unsigned rev5(unsigned v) { return __brev(v) >> 27; }

__global__ void bits(float* out, const float* in, unsigned rows, unsigned cols)
{
    __shared__ float tile[SIDE * SIDE];
    const unsigned shift = 31 - __clz(blockDim.x);              // 5
    const unsigned step = 1u << __popc(blockDim.y - 1);         // 8
    const unsigned mask = (1u << (__ffs(blockDim.x) - 1)) - 1;  // 31
    const unsigned tx = threadIdx.x & mask;
    const unsigned x = (blockIdx.x << shift) | tx, top = blockIdx.y << shift;
    for (unsigned j = threadIdx.y; j < SIDE; j += step)
        if (x < cols && (top | j) < rows)
            tile[(j << shift) | (tx ^ rev5(j))] = in[(top | j) * cols + x];
    __syncthreads();
    const unsigned u = (blockIdx.y << shift) | tx, left = blockIdx.x << shift;
    for (unsigned j = threadIdx.y; j < SIDE; j += step)
        if (u < rows && (left | j) < cols)
            out[(left | j) * rows + u] = tile[(tx << shift) | (j ^ rev5(tx))];
}
