// Rows divided by their length, a warp per row, in place: the second walk finds its data in the L1.
// run: --size rows=65536 --size cols=128 --output x=normal:rows,cols
// run: --size rows=32768 --size cols=1024 --output x=normal:rows,cols
// launch: normalise_warp<<<rows / 4, dim3(32, 4)>>>(x, cols)

__global__ void normalise_warp(float* x, int cols)
{
    float* row = x + (blockIdx.x * 4 + threadIdx.y) * cols;
    float sum = 0;
    for (int k = threadIdx.x; k < cols; k += 32) sum += row[k] * row[k];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    float scale = rsqrtf(sum);
    for (int k = threadIdx.x; k < cols; k += 32) row[k] *= scale;
}
