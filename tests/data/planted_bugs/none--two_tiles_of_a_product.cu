// The twin of row_behind_the_tile.
// in: float a[544]
// out: float y[256]
// launch: product<<<1, dim3(16, 16)>>>(y, a)
extern "C" __global__ void product(float* y, const float* a) {
    __shared__ float left[16][16];
    __shared__ float right[16][16];
    int x = threadIdx.x, row = threadIdx.y;
    right[row][x] = a[272 + row * 16 + x];
    __syncthreads();
    for (int r = row; r < 16; r += 16) left[r][x] = a[r * 16 + x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 16; ++k) sum += left[row][k] * right[k][x];
    y[row * 16 + x] = sum;
}
