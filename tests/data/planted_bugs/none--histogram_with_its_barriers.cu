// The twin of both histograms, for whole numbers and floats.
// in: float a[256]
// out: float y[32]
// out: int n[32]
// launch: weigh<<<1, 256>>>(y, n, a)
extern "C" __global__ void weigh(float* y, int* n, const float* a) {
    __shared__ float bins[32];
    __shared__ int counts[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0.0f;
    if (threadIdx.x >= 224) counts[threadIdx.x - 224] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 32], a[threadIdx.x]);
    atomicAdd(&counts[threadIdx.x % 32], 1);
    __syncthreads();
    if (threadIdx.x < 32) y[threadIdx.x] = bins[threadIdx.x];
    if (threadIdx.x < 32) n[threadIdx.x] = counts[31 - threadIdx.x];
}
