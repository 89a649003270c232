// [32][48]: more padding is not better: rows of 48 words alternate between two banks, 16 ways.
constexpr int kTile = 32;
constexpr int kPad  = 16;
constexpr int kStep = 8;

// launch: PaddedTranspose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void PaddedTranspose(float* out, const float* in, int rows, int cols) {
  __shared__ float buffer[kTile][kTile + kPad];
  const int in_col = kTile * blockIdx.x + threadIdx.x;
  const int in_row = kTile * blockIdx.y + threadIdx.y;
  for (int step = 0; step < kTile; step += kStep) {
    if (in_col < cols && in_row + step < rows) {
      buffer[threadIdx.y + step][threadIdx.x] = in[(in_row + step) * cols + in_col];
    }
  }
  __syncthreads();
  const int out_col = kTile * blockIdx.y + threadIdx.x;
  const int out_row = kTile * blockIdx.x + threadIdx.y;
  for (int step = 0; step < kTile; step += kStep) {
    if (out_col < rows && out_row + step < cols) {
      out[(out_row + step) * rows + out_col] = buffer[threadIdx.x][threadIdx.y + step];
    }
  }
}
