// Every block puts the tickets back when it is done: another one may still draw.
// in: float a[128]
// out: float parts[4]
// out: float y[1]
// launch: total<<<4, 32>>>(y, parts, a)
__device__ unsigned tickets = 0;
extern "C" __global__ void total(float* y, float* parts, const float* a) {
    __shared__ bool last;
    float sum = a[blockIdx.x * 32 + threadIdx.x];
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&tickets, 1) == gridDim.x - 1;  // BUG
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0.0f;
        for (int i = 0; i < gridDim.x; ++i) all += parts[i];
        y[0] = all;
    }
    if (threadIdx.x == 0) tickets = 0;  // BUG
}
