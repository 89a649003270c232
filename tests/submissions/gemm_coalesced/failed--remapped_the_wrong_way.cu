// 1-D block as in the handout, but with / and % exchanged: neighbours walk down a column again.
#define BLOCKSIZE 32
// launch: gemm<<<dim3(ceil_div(M, BLOCKSIZE), ceil_div(N, BLOCKSIZE)), BLOCKSIZE * BLOCKSIZE>>>(A, B, C, M, N, K)
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K) {
  const int row = blockIdx.x * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);
  const int col = blockIdx.y * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
  if (row < M && col < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) tmp += A[row * K + i] * B[i * N + col];
    C[row * N + col] = tmp;
  }
}
