// The first element's left neighbour lies in the array in front, which a helper cannot know.
// in: float a[64]
// out: float y[64]
// launch: smooth<<<1, 64>>>(y, a)
__device__ float around(const float* row, int i) {
    return row[i - 1] + row[i];  // BUG
}
extern "C" __global__ void smooth(float* y, const float* a) {
    __shared__ int counts[4];
    __shared__ float row[64];
    if (threadIdx.x < 4) counts[threadIdx.x] = threadIdx.x;
    row[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = around(row, threadIdx.x) + counts[threadIdx.x % 4];
}
