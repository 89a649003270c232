// A matrix times a vector: the vector goes through shared memory in tiles, a thread for each row.
// run: --size m=4096 --size n=4096 --input A=normal:m,n --input x=normal:n --output y=float32:m
// run: --size m=65536 --size n=2048 --input A=normal:m,n --input x=normal:n --output y=float32:m
#define TILE 128
// launch: gemv<<<ceil_div(m, TILE), TILE, TILE * 4>>>(A, x, y, m, n)

__global__ void gemv(const float* A, const float* x, float* y, int m, int n) {
  extern __shared__ float tile[];
  const int row = blockIdx.x * TILE + threadIdx.x;
  float acc = 0.f;
  for (int start = 0; start < n; start += TILE) {
    int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? x[j] : 0.f;
    __syncthreads();
    if (row < m) {
      int end = min(TILE, n - start);
      for (int k = 0; k < end; ++k) acc += A[(size_t)row * n + start + k] * tile[k];
    }
    __syncthreads();
  }
  if (row < m) y[row] = acc;
}
