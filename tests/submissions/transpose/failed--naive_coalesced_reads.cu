// One element a thread, no tile: reads along rows, writes down columns. On a GPU: bandwidth and speed-up fail too.
// launch: transposeNaive<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(out, in, rows, cols)
__global__ void transposeNaive(float *out, const float *in, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col < cols && row < rows)
    out[col * rows + row] = in[row * cols + col];
}
