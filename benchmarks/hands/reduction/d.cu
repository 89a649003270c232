#define WARPS 8
// launch: add_up<<<264, 32 * WARPS>>>(in, n, out)
__global__ void add_up(const float* values, int size, float* answer)
{
    __shared__ float warpSums[WARPS];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    float s = 0.0f;
    int index = threadIdx.x + blockIdx.x * blockDim.x;
    while (index < size) {
        s += values[index];
        index += gridDim.x * blockDim.x;
    }
    #pragma unroll
    for (int mask = 16; mask >= 1; mask >>= 1) s += __shfl_xor_sync(0xFFFFFFFFu, s, mask);
    if (lane == 0) warpSums[warp] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float block = 0.0f;
        for (int w = 0; w < WARPS; ++w) block += warpSums[w];
        atomicAdd(answer, block);
    }
}
