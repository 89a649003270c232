// The mask names all lanes; one half of them is elsewhere.
// in: float a[32]
// out: float y[32]
// launch: half<<<1, 32>>>(y, a)
extern "C" __global__ void half(float* y, const float* a) {
    float value = a[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int i = 0; i < value; ++i) value += 0.5f;
        value += __shfl_down_sync(0xffffffffu, value, 16);  // BUG
    } else {
        for (int i = 0; i < value; ++i) value += 0.25f;
    }
    y[threadIdx.x] = value;
}
