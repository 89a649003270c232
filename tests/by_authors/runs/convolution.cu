// A convolution whose weights lie in constant memory.
#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
__constant__ float weights[WIDTH * WIDTH];
// launch: cudaMemcpyToSymbol(weights, w, WIDTH * WIDTH * sizeof(float))
// launch: convolve<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(y, x, rows, cols)

__global__ void convolve(float* y, const float* x, int rows, int cols) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < WIDTH; ++i)
    for (int j = 0; j < WIDTH; ++j) {
      int u = r + i - RADIUS, v = c + j - RADIUS;
      if (0 <= u && u < rows && 0 <= v && v < cols) sum += weights[i * WIDTH + j] * x[u * cols + v];
    }
  y[r * cols + c] = sum;
}
