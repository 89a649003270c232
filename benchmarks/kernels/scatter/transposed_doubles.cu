// A naive transpose of doubles: rows read, columns stored, eight warps of a block side by side.
// run: --size rows=1024 --size cols=2048 --input x=normal:rows,cols:float64 --output y=float64:cols,rows
// run: --size rows=4096 --size cols=4160 --input x=normal:rows,cols:float64 --output y=float64:cols,rows
// launch: transposed_doubles<<<dim3(cols / 32, rows / 8), dim3(32, 8)>>>(y, x, rows, cols)

__global__ void transposed_doubles(double* y, const double* x, int rows, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    y[col * rows + row] = x[row * cols + col];
}
