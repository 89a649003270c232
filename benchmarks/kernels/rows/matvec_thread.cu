// A matrix times a vector, a thread per row: a warp's load touches 32 lines, each for eight loads.
// run: --size rows=524288 --size cols=32 --input a=normal:rows,cols --input x=normal:cols --output y=float32:rows
// run: --size rows=65536 --size cols=256 --input a=normal:rows,cols --input x=normal:cols --output y=float32:rows
// run: --size rows=32768 --size cols=1024 --input a=normal:rows,cols --input x=normal:cols --output y=float32:rows
// run: --size rows=8192 --size cols=4096 --input a=normal:rows,cols --input x=normal:cols --output y=float32:rows
// launch: matvec_thread<<<ceil_div(rows, 256), 256>>>(y, a, x, rows, cols)

__global__ void matvec_thread(float* y, const float* a, const float* x, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < cols; k++) sum += a[row * cols + k] * x[k];
    y[row] = sum;
}
