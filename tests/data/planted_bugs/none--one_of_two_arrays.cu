// Buffers take turns: a pointer goes to the one or to the other, and past the first one's end it is the second one's.
// in: float a[64]
// out: float y[64]
// launch: steps<<<1, 64>>>(y, a)
__device__ float around(const float* row, int i) {
    return row[i > 0 ? i - 1 : 0] + row[i];
}
extern "C" __global__ void steps(float* y, const float* a) {
    __shared__ float first[64];
    __shared__ float second[64];
    float* from = first;
    float* to = second;
    from[threadIdx.x] = a[threadIdx.x];
    for (int step = 0; step < a[0] + 4; ++step) {
        __syncthreads();
        to[threadIdx.x] = 0.5f * around(from, threadIdx.x);
        float* other = from;
        from = to;
        to = other;
    }
    __syncthreads();
    y[threadIdx.x] = from[63 - threadIdx.x];
}
