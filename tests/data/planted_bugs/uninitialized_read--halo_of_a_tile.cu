// The last element of the tile has no thread that fills it.
// in: float a[64]
// out: float y[64]
// launch: differences<<<1, 64>>>(y, a)
extern "C" __global__ void differences(float* y, const float* a) {
    __shared__ float tile[65];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x + 1] - tile[threadIdx.x];  // BUG
}
