// Conway's game on a torus, one byte a cell, between two boards.
// scratch: unsigned char a[rows * cols]
// scratch: unsigned char b[rows * cols]
// launch: cudaMemcpy(a, board, rows * cols, cudaMemcpyDeviceToDevice)
// launch: for (int day = 0; day < days; ++day) { life<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(a, b, rows, cols); std::swap(a, b); }
// launch: cudaMemcpy(last, a, rows * cols, cudaMemcpyDeviceToDevice)

__global__ void life(const unsigned char* from, unsigned char* to, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  int alive = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      if (i || j) alive += from[(r + i + rows) % rows * cols + (c + j + cols) % cols];
  unsigned char now = from[r * cols + c];
  to[r * cols + c] = alive == 3 || (alive == 2 && now);
}
