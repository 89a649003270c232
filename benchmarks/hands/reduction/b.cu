// launch: sum_all<<<528, 512>>>(in, out, n)
__inline__ __device__ float over_lanes(float share)
{
    for (int distance = 16; distance > 0; distance /= 2)
        share += __shfl_down_sync(0xffffffff, share, distance);
    return share;
}

__inline__ __device__ float over_block(float share)
{
    static __shared__ float of_warps[32];
    int lane = threadIdx.x % 32;
    int group = threadIdx.x / 32;
    share = over_lanes(share);
    if (lane == 0) of_warps[group] = share;
    __syncthreads();
    share = (threadIdx.x < blockDim.x / 32) ? of_warps[lane] : 0;
    if (group == 0) share = over_lanes(share);
    return share;
}

__global__ void sum_all(const float* in, float* out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        sum += in[i];
    }
    sum = over_block(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
