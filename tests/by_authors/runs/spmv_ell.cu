// A sparse matrix in rows of one width, stored by columns, times a vector: a thread for each row.
// run: --size rows=131072 --size width=16 --input columns=small_integers:width,rows:int32 --input values=normal:width,rows --input x=normal:rows --output y=float32:rows
// run: --size rows=1048576 --size width=32 --input columns=small_integers:width,rows:int32 --input values=normal:width,rows --input x=normal:rows --output y=float32:rows
// launch: spmv_ell<<<ceil_div(rows, 256), 256>>>(rows, width, columns, values, x, y)

extern "C" __global__ void spmv_ell(int rows, int width, const int* columns, const float* values,
                                    const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0;
    for (int j = 0; j < width; ++j) {
      int column = columns[j * rows + row];
      if (column >= 0) sum += values[j * rows + row] * x[column];
    }
    y[row] = sum;
  }
}
