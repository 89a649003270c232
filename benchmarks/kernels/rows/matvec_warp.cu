// A matrix times a vector, a warp per row: coalesced loads, and a sum by shuffles at the end.
// run: --size rows=131072 --size cols=64 --input a=normal:rows,cols --input x=normal:cols --output y=float32:rows
// run: --size rows=16384 --size cols=1024 --input a=normal:rows,cols --input x=normal:cols --output y=float32:rows
// run: --size rows=16384 --size cols=4096 --input a=normal:rows,cols --input x=normal:cols --output y=float32:rows
// launch: matvec_warp<<<rows / 8, dim3(32, 8)>>>(y, a, x, cols)

__global__ void matvec_warp(float* y, const float* a, const float* x, int cols)
{
    int row = blockIdx.x * 8 + threadIdx.y;
    float sum = 0;
    for (int k = threadIdx.x; k < cols; k += 32) sum += a[row * cols + k] * x[k];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (threadIdx.x == 0) y[row] = sum;
}
