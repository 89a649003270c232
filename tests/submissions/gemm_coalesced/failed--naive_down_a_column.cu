// The naive kernel as it is often written: x is the row. A warp reads 32 rows of A and writes 32 rows of C.
// launch: gemm_naive<<<dim3(ceil_div(M, 32), ceil_div(N, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
__global__ void gemm_naive(const float *A, const float *B, float *C, int M, int N, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
      sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}
