// Heat on a plate whose edges stay as they are: tiles with a halo, and two buffers in turn.
#define TILE 16
// scratch: float a[rows * cols]
// scratch: float b[rows * cols]
// launch: cudaMemcpy(a, start, rows * cols * sizeof(float), cudaMemcpyDeviceToDevice)
// launch: for (int step = 0; step < steps; ++step) {
// launch:     heat_step<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, TILE)>>>(a, b, rows, cols, 0.2f);
// launch:     std::swap(a, b);
// launch: }
// launch: cudaMemcpy(end, a, rows * cols * sizeof(float), cudaMemcpyDeviceToDevice)

__global__ void heat_step(const float* from, float* to, int rows, int cols, float rate) {
  __shared__ float t[TILE + 2][TILE + 2];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  int c = threadIdx.x + 1, r = threadIdx.y + 1, i = y * cols + x;
  bool inside = x < cols && y < rows;
  if (inside) {
    t[r][c] = from[i];
    if (c == 1 && x > 0) t[r][0] = from[i - 1];
    if (c == TILE && x + 1 < cols) t[r][TILE + 1] = from[i + 1];
    if (r == 1 && y > 0) t[0][c] = from[i - cols];
    if (r == TILE && y + 1 < rows) t[TILE + 1][c] = from[i + cols];
  }
  __syncthreads();
  if (!inside) return;
  bool edge = x == 0 || y == 0 || x == cols - 1 || y == rows - 1;
  float here = t[r][c];
  to[i] = edge ? here : here + rate * (t[r][c - 1] + t[r][c + 1] + t[r - 1][c] + t[r + 1][c] - 4 * here);
}
