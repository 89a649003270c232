// The last element of the tile is read, and what comes of it is not stored.
// in: float a[64]
// out: float y[64]
// launch: differences<<<1, 64>>>(y, a)
extern "C" __global__ void differences(float* y, const float* a) {
    __shared__ float tile[65];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    float next = tile[threadIdx.x + 1];
    y[threadIdx.x] = (threadIdx.x < 63 ? next : 0.0f) - tile[threadIdx.x];
}
