// The twin of paths_of_one_warp: the halves meet in between.
// in: float a[32]
// out: float y[32]
// launch: halves<<<1, 32>>>(y, a)
extern "C" __global__ void halves(float* y, const float* a) {
    __shared__ float kept[32];
    kept[threadIdx.x] = 0.0f;
    __syncwarp();
    float value = a[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int i = 0; i < value; ++i) value += 0.5f;
        kept[threadIdx.x] = value;
    }
    __syncwarp();
    if (threadIdx.x >= 16) {
        for (int i = 0; i < value; ++i) value += 0.25f;
        value += kept[threadIdx.x - 16];
    }
    y[threadIdx.x] = value;
}
