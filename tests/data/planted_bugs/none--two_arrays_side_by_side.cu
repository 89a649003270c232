// The twin of into_the_next_array: the tile has an element more.
// in: float a[64]
// out: float y[64]
// launch: differences<<<1, 64>>>(y, a)
extern "C" __global__ void differences(float* y, const float* a) {
    __shared__ float tile[65];
    if (threadIdx.x == 0) tile[64] = 0.0f;
    __shared__ float weights[64];
    tile[threadIdx.x] = a[threadIdx.x];
    weights[threadIdx.x] = 0.5f * a[63 - threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = (tile[threadIdx.x + 1] - tile[threadIdx.x]) * weights[threadIdx.x];
}
