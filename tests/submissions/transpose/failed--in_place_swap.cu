// Square: copy to out, then swap tiles across the diagonal in place. Else an ordinary transpose. Every element moves twice.
// expect without a model: passed, only a clock tells (31 % of an H100's peak bandwidth, 80 % are asked)
#define B 32
// launch: fill<<<ceil_div(rows * cols, 512), 512>>>(out, in, rows, cols)
// launch: swap_tiles<<<dim3(ceil_div(cols, B), ceil_div(rows, B)), dim3(B, 8)>>>(out, in, rows, cols)
__global__ void fill(float* out, const float* in, int rows, int cols)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (rows == cols && i < (size_t)rows * cols) out[i] = in[i];
}

__device__ void take(float (*t)[B + 1], const float* m, int top, int left, int height, int width)
{
    for (int j = threadIdx.y; j < B; j += blockDim.y)
        if (top + j < height && left + threadIdx.x < width) t[j][threadIdx.x] = m[(size_t)(top + j) * width + left + threadIdx.x];
}

__device__ void put(float (*t)[B + 1], float* m, int top, int left, int height, int width)
{
    for (int j = threadIdx.y; j < B; j += blockDim.y)
        if (top + j < height && left + threadIdx.x < width) m[(size_t)(top + j) * width + left + threadIdx.x] = t[threadIdx.x][j];
}

__global__ void swap_tiles(float* m, const float* in, int rows, int cols)
{
    __shared__ float a[B][B + 1], b[B][B + 1];
    const int x = blockIdx.x * B, y = blockIdx.y * B;
    if (rows != cols) {
        take(a, in, y, x, rows, cols);
        __syncthreads();
        put(a, m, x, y, cols, rows);
        return;
    }
    if (blockIdx.x < blockIdx.y) return;
    take(a, m, y, x, rows, cols);
    if (x != y) take(b, m, x, y, rows, cols);
    __syncthreads();
    put(a, m, x, y, rows, cols);
    if (x != y) put(b, m, y, x, rows, cols);
}
