// Pairs are read from odd places of a row.
// in: float a[66]
// out: float y[32]
// launch: pairs<<<1, 32>>>(y, a)
extern "C" __global__ void pairs(float* y, const float* a) {
    __shared__ __align__(8) float row[66];
    row[2 * threadIdx.x] = a[2 * threadIdx.x];
    row[2 * threadIdx.x + 1] = a[2 * threadIdx.x + 1];
    __syncwarp();
    float2 pair = *(float2*)&row[2 * (threadIdx.x % 16) + 1];  // BUG
    y[threadIdx.x] = pair.x + pair.y;
}
