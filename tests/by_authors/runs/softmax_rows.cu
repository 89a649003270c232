// Softmax of each row, in one pass over the row: a warp keeps the largest element and the sum.
// run: --size rows=8192 --size cols=1024 --input x=normal:rows,cols --output y=float32:rows,cols
// run: --size rows=131072 --size cols=256 --input x=normal:rows,cols --output y=float32:rows,cols
// launch: softmax<<<ceil_div(rows, 4), dim3(32, 4)>>>(x, y, rows, cols)
#include <math_constants.h>

struct Running {
  float largest, sum;
};

__device__ Running merge(Running a, Running b) {
  bool first = a.largest > b.largest;
  Running high = first ? a : b, low = first ? b : a;
  high.sum += low.sum == 0 ? 0 : low.sum * expf(low.largest - high.largest);
  return high;
}

__global__ void softmax(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  Running seen = {-CUDART_INF_F, 0.0f};
  for (int c = threadIdx.x; c < cols; c += 32) seen = merge(seen, {x[row * cols + c], 1.0f});
  for (int mask = 16; mask > 0; mask /= 2) {
    Running other = {__shfl_xor_sync(0xffffffff, seen.largest, mask),
                     __shfl_xor_sync(0xffffffff, seen.sum, mask)};
    seen = merge(seen, other);
  }
  for (int c = threadIdx.x; c < cols; c += 32)
    y[row * cols + c] = expf(x[row * cols + c] - seen.largest) / seen.sum;
}
