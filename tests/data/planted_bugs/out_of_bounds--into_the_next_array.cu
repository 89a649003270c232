// The neighbour of the last element is read from the array behind.
// in: float a[64]
// out: float y[64]
// launch: differences<<<1, 64>>>(y, a)
extern "C" __global__ void differences(float* y, const float* a) {
    __shared__ float tile[64];
    __shared__ float weights[64];
    tile[threadIdx.x] = a[threadIdx.x];
    weights[threadIdx.x] = 0.5f * a[63 - threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = (tile[threadIdx.x + 1] - tile[threadIdx.x]) * weights[threadIdx.x];  // BUG
}
