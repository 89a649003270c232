// The twin of no_barrier_before_the_tile_is_read.
// in: float a[256]
// out: float y[256]
// launch: turn<<<1, dim3(16, 16)>>>(y, a)
extern "C" __global__ void turn(float* y, const float* a) {
    __shared__ float tile[16][17];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 16 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
