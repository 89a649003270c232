// Two launches, each for one half of the rows of tiles. On a GPU: bandwidth may be just short (two launches).
#define TILE 32
// launch: part<<<dim3(ceil_div(cols, TILE), ceil_div(ceil_div(rows, TILE), 2)), dim3(TILE, 8)>>>(out, in, rows, cols, 0)
// launch: part<<<dim3(ceil_div(cols, TILE), ceil_div(ceil_div(rows, TILE), 2)), dim3(TILE, 8)>>>(out, in, rows, cols, ceil_div(ceil_div(rows, TILE), 2))
__global__ void part(float* out, const float* in, int rows, int cols, int first)
{
    __shared__ float tile[TILE][TILE + 1];
    int by = (first + blockIdx.y) * TILE, bx = blockIdx.x * TILE;
    if (by >= rows) return;  // the whole block
    for (int j = threadIdx.y; j < TILE; j += 8)
        if (bx + threadIdx.x < cols && by + j < rows)
            tile[j][threadIdx.x] = in[(by + j) * cols + bx + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < TILE; j += 8)
        if (by + threadIdx.x < rows && bx + j < cols)
            out[(bx + j) * rows + by + threadIdx.x] = tile[threadIdx.x][j];
}
