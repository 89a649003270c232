// The mask names the lanes that are there; what others would have given is not used.
// in: float a[16]
// out: float y[1]
// launch: total<<<1, 32>>>(y, a)
extern "C" __global__ void total(float* y, const float* a) {
    if (threadIdx.x < 16) {
        float sum = a[threadIdx.x];
        for (int other = 8; other > 0; other /= 2) sum += __shfl_down_sync(0x0000ffffu, sum, other);
        if (threadIdx.x == 0) y[0] = sum;
    }
}
