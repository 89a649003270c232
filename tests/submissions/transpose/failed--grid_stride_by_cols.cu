// Grid-stride loop over elements, / and % by the runtime value cols: right, but the writes are strided.
// launch: gridStride<<<min(1024, ceil_div(rows * cols, 256)), 256>>>(out, in, rows, cols)
__global__ void gridStride(float *out, const float *in, int rows, int cols)
{
  int n = rows * cols;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
  {
    int r = i / cols;
    int c = i % cols;
    out[c * rows + r] = in[i];
  }
}
