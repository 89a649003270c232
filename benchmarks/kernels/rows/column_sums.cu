// Column sums, a thread per column: coalesced, but few warps, and a long walk for each.
// run: --size rows=1024 --size cols=8192 --input x=normal:rows,cols --output y=float32:cols
// run: --size rows=1024 --size cols=65536 --input x=normal:rows,cols --output y=float32:cols
// launch: column_sums<<<cols / 128, 128>>>(y, x, rows, cols)

__global__ void column_sums(float* y, const float* x, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int row = 0; row < rows; row++) sum += x[row * cols + col];
    y[col] = sum;
}
