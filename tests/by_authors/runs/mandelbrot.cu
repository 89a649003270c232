// How long points of the plane stay near: the corner and the step are given by the launch.
// run: --size width=1024 --size height=512 --size limit=64 --output counts=int32:height,width
// run: --size width=512 --size height=256 --size limit=256 --output counts=int32:height,width
// launch: mandelbrot<<<dim3(ceil_div(width, 32), ceil_div(height, 4)), dim3(32, 4)>>>(counts, width, height, {-2.0, -1.25}, 0.046875, limit)

struct Point {
  double x, y;
};

__global__ void mandelbrot(int* counts, int width, int height, Point corner, double step, int limit) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= width || row >= height) return;
  double cx = corner.x + col * step, cy = corner.y + row * step, x = 0, y = 0;
  int n = 0;
  for (; n < limit && __dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) <= 4; ++n) {
    double next = __dadd_rn(__dsub_rn(__dmul_rn(x, x), __dmul_rn(y, y)), cx);
    y = __dadd_rn(__dmul_rn(__dmul_rn(2, x), y), cy);
    x = next;
  }
  counts[row * width + col] = n;
}
