// A transpose whose warps read columns and write rows; a block's next columns share the sectors.
// run: --size rows=2048 --size cols=1024 --input x=normal:rows,cols --output y=float32:cols,rows
// run: --size rows=4096 --size cols=4096 --input x=normal:rows,cols --output y=float32:cols,rows
// run: --size rows=4096 --size cols=4100 --input x=normal:rows,cols --output y=float32:cols,rows
// launch: column_loads<<<dim3(rows / 32, ceil_div(cols, 8)), dim3(32, 8)>>>(y, x, rows, cols)

__global__ void column_loads(float* y, const float* x, int rows, int cols)
{
    int row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 8 + threadIdx.y;
    if (col < cols) y[col * rows + row] = x[row * cols + col];
}
