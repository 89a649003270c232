// Each block overwrites the border that its neighbour reads.
// in: float a[128]
// out: float y[128]
// launch: copy<<<4, 32>>>(y, a)
// launch: smooth<<<4, 32>>>(y)
extern "C" __global__ void copy(float* y, const float* a) { y[blockIdx.x * 32 + threadIdx.x] = a[blockIdx.x * 32 + threadIdx.x]; }
extern "C" __global__ void smooth(float* y) {
    int i = blockIdx.x * 32 + threadIdx.x;
    float left = i > 0 ? y[i - 1] : 0.0f;  // BUG
    __syncthreads();
    y[i] = 0.5f * (left + 1.0f);  // BUG
}
