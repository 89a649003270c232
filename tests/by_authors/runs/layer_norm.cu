// Layer normalisation of rows, with gain and bias: a block a row, and cooperative groups.
// run: --size rows=4096 --size cols=1024 --input x=normal:rows,cols --input gain=normal:cols --input bias=normal:cols --output y=float32:rows,cols
// run: --size rows=16384 --size cols=4096 --input x=normal:rows,cols --input gain=normal:cols --input bias=normal:cols --output y=float32:rows,cols
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// launch: layer_norm<<<rows, 128>>>(x, gain, bias, y, cols, 1e-5f)

__device__ float block_sum(float value, float* partial) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  value = cg::reduce(warp, value, cg::plus<float>());
  block.sync();
  if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = value;
  block.sync();
  float sum = 0;
  for (int w = 0; w < warp.meta_group_size(); ++w) sum += partial[w];
  return sum;
}

__global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int cols,
                           float epsilon) {
  __shared__ float partial[32];
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += x[c];
  float mean = block_sum(sum, partial) / cols;
  float squares = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += (x[c] - mean) * (x[c] - mean);
  float scale = rsqrtf(block_sum(squares, partial) / cols + epsilon);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[c] = (x[c] - mean) * scale * gain[c] + bias[c];
}
