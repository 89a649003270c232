#define TILE 32
// launch: transpose_kernel<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), 256>>>(out, in, rows, cols)
struct Position { int row; int col; };

__device__ Position position(int index) { return Position{index / TILE, index % TILE}; }

__global__ void transpose_kernel(float* out, const float* in, int rows, int cols)
{
    __shared__ float smem[TILE][TILE];
    int rowStart = blockIdx.y * TILE;
    int colStart = blockIdx.x * TILE;
    for (int index = threadIdx.x; index < TILE * TILE; index += blockDim.x) {
        Position p = position(index);
        if (rowStart + p.row < rows && colStart + p.col < cols)
            smem[p.row][p.col ^ p.row] = in[(rowStart + p.row) * cols + colStart + p.col];
    }
    __syncthreads();
    for (int index = threadIdx.x; index < TILE * TILE; index += blockDim.x) {
        Position p = position(index);
        if (colStart + p.row < cols && rowStart + p.col < rows)
            out[(colStart + p.row) * rows + rowStart + p.col] = smem[p.col][p.col ^ p.row];
    }
}
