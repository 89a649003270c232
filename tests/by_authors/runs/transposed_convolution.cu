// A transposed convolution (stride 2, 4 x 4, padding 1), gathering: each output adds what reaches it.
// run: --size in_channels=16 --size out_channels=16 --size height=64 --size width=64 --input x=normal:in_channels,height,width --input w=normal:in_channels,out_channels,16 --output y=float32:4*out_channels*height*width
// run: --size in_channels=32 --size out_channels=8 --size height=256 --size width=256 --input x=normal:in_channels,height,width --input w=normal:in_channels,out_channels,16 --output y=float32:4*out_channels*height*width
#define KERNEL 4
#define STRIDE 2
#define PAD 1
// launch: upsample<<<dim3(ceil_div(2 * width, 16), ceil_div(2 * height, 16), out_channels), dim3(16, 16)>>>(y, x, w, in_channels, height, width)

__global__ void upsample(float* y, const float* x, const float* w, int in_channels, int height,
                         int width) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  int out = blockIdx.z, rows = height * STRIDE, cols = width * STRIDE;
  if (row >= rows || col >= cols) return;
  float sum = 0.0f;
  for (int in = 0; in < in_channels; ++in)
    for (int i = 0; i < KERNEL; ++i)
      for (int j = 0; j < KERNEL; ++j) {
        int r = row + PAD - i, c = col + PAD - j;
        if (r < 0 || c < 0 || r % STRIDE || c % STRIDE) continue;
        r /= STRIDE, c /= STRIDE;
        if (r >= height || c >= width) continue;
        sum += x[(in * height + r) * width + c] *
               w[((in * gridDim.z + out) * KERNEL + i) * KERNEL + j];
      }
  y[(out * rows + row) * cols + col] = sum;
}
