#define BS 128
// launch: total<<<min(ceil_div(n, 4 * BS), 1024), BS>>>(out, in, n)
__global__ void total(float* result, const float* data, int count)
{
    __shared__ float part[BS];
    float mine = 0.f;
    int stride = BS * gridDim.x;
    int quads = count / 4;
    const float4* wide = reinterpret_cast<const float4*>(data);
    for (int q = blockIdx.x * BS + threadIdx.x; q < quads; q += stride) {
        float4 v = wide[q];
        mine += (v.x + v.y) + (v.z + v.w);
    }
    int rest = quads * 4 + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) mine += data[rest];
    part[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x < 64) part[threadIdx.x] += part[threadIdx.x + 64];
    __syncthreads();
    if (threadIdx.x < 32) {
        float w = part[threadIdx.x] + part[threadIdx.x + 32];
        w += __shfl_xor_sync(~0u, w, 16);
        w += __shfl_xor_sync(~0u, w, 8);
        w += __shfl_xor_sync(~0u, w, 4);
        w += __shfl_xor_sync(~0u, w, 2);
        w += __shfl_xor_sync(~0u, w, 1);
        if (threadIdx.x == 0) atomicAdd(result, w);
    }
}
