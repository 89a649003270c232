// The row is too short for its block.
// in: float a[96]
// out: float y[96]
// launch: turn<<<1, 96>>>(y, a)
extern "C" __global__ void turn(float* y, const float* a) {
    __shared__ float row[64];
    row[threadIdx.x] = a[threadIdx.x];  // BUG
    __syncthreads();
    y[threadIdx.x] = row[95 - threadIdx.x];
}
