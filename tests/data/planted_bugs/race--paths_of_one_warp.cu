// One half of a warp reads what the other half stores in another branch.
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
        kept[threadIdx.x] = value;  // BUG
    } else {
        for (int i = 0; i < value; ++i) value += 0.25f;
        value += kept[threadIdx.x - 16];  // BUG
    }
    y[threadIdx.x] = value;
}
