// Bands of a matrix updated in place, a thread per row of 16 words: a warp's access is one column.
// run: --size rows=65536 --size cols=64 --output x=normal:rows,cols
// run: --size rows=16384 --size cols=1040 --output x=normal:rows,cols
// launch: column_updates<<<dim3(cols / 16, rows / 128), 128>>>(x, cols)

__global__ void column_updates(float* x, int cols)
{
    int row = blockIdx.y * blockDim.x + threadIdx.x;
    float* band = x + row * cols + blockIdx.x * 16;
    for (int k = 0; k < 16; k++) band[k] = 2.0f * band[k] + 1.0f;
}
