// A tile is read by columns before all of it is there.
// in: float a[256]
// out: float y[256]
// launch: turn<<<1, dim3(16, 16)>>>(y, a)
extern "C" __global__ void turn(float* y, const float* a) {
    __shared__ float tile[16][17];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 16 + threadIdx.x];  // BUG
    y[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // BUG
}
