// Column sums, 64 rows per block, which the blocks of a column add up by atomics.
// run: --size rows=4096 --size cols=2048 --input x=normal:rows,cols --output y=normal:cols
// run: --size rows=8192 --size cols=8192 --input x=normal:rows,cols --output y=normal:cols
// launch: column_sums_split<<<dim3(cols / 128, rows / 64), 128>>>(y, x, cols)

__global__ void column_sums_split(float* y, const float* x, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 64;
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += x[(first + k) * cols + col];
    atomicAdd(y + col, sum);
}
