// One element a thread, no tile: writes along rows, reads down columns. On a GPU: bandwidth fails too.
// launch: T<<<dim3(ceil_div(rows, 32), ceil_div(cols, 8)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void T(float* __restrict__ out, const float* __restrict__ in, const int rows, const int cols)
{
    const int r = blockIdx.x*32 + threadIdx.x;
    const int c = blockIdx.y*8  + threadIdx.y;

    if (r >= rows) return;
    if (c >= cols) return;

    out[c*rows + r] = in[r*cols + c];
}
