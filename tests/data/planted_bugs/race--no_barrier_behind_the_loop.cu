// A row is filled again while other warps still read it.
// in: float a[512]
// out: float y[128]
// launch: sums<<<1, 128>>>(y, a)
extern "C" __global__ void sums(float* y, const float* a) {
    __shared__ float row[128];
    float sum = 0.0f;
#pragma unroll 1
    for (int step = 0; step < 4; ++step) {
        row[threadIdx.x] = a[step * 128 + threadIdx.x];  // BUG
        __syncthreads();
        sum += row[127 - threadIdx.x];  // BUG
    }
    y[threadIdx.x] = sum;
}
