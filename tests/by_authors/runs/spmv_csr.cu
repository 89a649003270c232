// A sparse matrix in compressed rows times a vector: a warp for each row.
// launch: spmv<<<ceil_div(rows * 32, 128), 128>>>(rows, starts, columns, values, x, y)

__global__ void __launch_bounds__(128)
spmv(int rows, const int* __restrict__ starts, const int* __restrict__ columns,
     const double* __restrict__ values, const double* __restrict__ x, double* __restrict__ y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0;
  for (int j = starts[row] + lane; j < starts[row + 1]; j += 32)
    sum += values[j] * __ldg(&x[columns[j]]);
#pragma unroll
  for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}
