// A tree of sums over a block whose levels do not wait for each other.
// in: float a[256]
// out: float y[1]
// launch: total<<<1, 256>>>(y, a)
extern "C" __global__ void total(float* y, const float* a) {
    __shared__ float part[256];
    part[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];  // BUG
    if (threadIdx.x == 0) y[0] = part[0];
}
