// The padded tile, and the bonus: a square matrix in place, two tiles at a time. With a launch line of its own for each.
#define TILE 32
#define ROWS 8
// launch: transpose_shared<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)
// launch in_place: transpose_in_place<<<dim3(ceil_div(n, TILE), ceil_div(n, TILE)), dim3(TILE, ROWS)>>>(data, n)

__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    #pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    #pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

__device__ void take(float (*tile)[TILE + 1], const float* data, int top, int left, int n)
{
    for (int j = threadIdx.y; j < TILE; j += ROWS)
        if (top + j < n && left + threadIdx.x < n) tile[j][threadIdx.x] = data[(size_t)(top + j) * n + left + threadIdx.x];
}

__device__ void put(float (*tile)[TILE + 1], float* data, int top, int left, int n)
{
    for (int j = threadIdx.y; j < TILE; j += ROWS)
        if (top + j < n && left + threadIdx.x < n) data[(size_t)(top + j) * n + left + threadIdx.x] = tile[threadIdx.x][j];
}

__global__ void transpose_in_place(float* data, int n)
{
    __shared__ float upper[TILE][TILE + 1], lower[TILE][TILE + 1];
    const int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    if (x < y) return;  // the block of the mirror image does both tiles
    take(upper, data, y, x, n);
    if (x > y) take(lower, data, x, y, n);
    __syncthreads();
    put(upper, data, x, y, n);
    if (x > y) put(lower, data, y, x, n);
}
