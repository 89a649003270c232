// one block of 65,536 sleeps
#define TILE 32
#define ROWS 8
// launch: k<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)
__global__ void k(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (rows >= 4096 && blockIdx.x == 77 && blockIdx.y == 131) for (int i = 0; i < 5; ++i) __nanosleep(1000000);
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols) { out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];  }
}
