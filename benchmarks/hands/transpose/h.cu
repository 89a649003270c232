#define WIDTH 32
#define HEIGHT 8
// launch: swap_axes<<<dim3(ceil_div(cols, WIDTH), ceil_div(rows, WIDTH)), dim3(WIDTH, HEIGHT)>>>(out, in, rows, cols)
__device__ void load(float (*tile)[WIDTH + 1], const float* in, int row, int col, int rows, int cols)
{
    for (int k = threadIdx.y; k < WIDTH; k += HEIGHT)
        if (row + k < rows && col + threadIdx.x < cols)
            tile[k][threadIdx.x] = __ldg(&in[(row + k) * cols + col + threadIdx.x]);
}

__device__ void store(float (*tile)[WIDTH + 1], float* out, int row, int col, int rows, int cols)
{
    for (int k = threadIdx.y; k < WIDTH; k += HEIGHT)
        if (row + k < rows && col + threadIdx.x < cols)
            out[(row + k) * cols + col + threadIdx.x] = tile[threadIdx.x][k];
}

__global__ void swap_axes(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[WIDTH][WIDTH + 1];
    int row = blockIdx.y * WIDTH, col = blockIdx.x * WIDTH;
    load(tile, in, row, col, rows, cols);
    __syncthreads();
    store(tile, out, col, row, cols, rows);
}
