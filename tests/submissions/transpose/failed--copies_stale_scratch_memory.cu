// Takes the answer from memory that nobody has written in this run.
// expect points: 0
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, stale, in, rows, cols)
// scratch: float stale[rows * cols]
__global__ void transpose_shared(float* out, const float* scratch, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    out[x * rows + y] = scratch[x * rows + y];
}
