// 1-D block of 1,024 threads; / and % by 32 give row and column, so that neighbours walk along a row.
#define BLOCKSIZE 32
// launch: sgemm_global_mem_coalesce<<<dim3(ceil_div(M, BLOCKSIZE), ceil_div(N, BLOCKSIZE)), BLOCKSIZE * BLOCKSIZE>>>(A, B, C, M, N, K)
__global__ void sgemm_global_mem_coalesce(const float *A, const float *B, float *C, int M, int N, int K) {
  const int cRow = blockIdx.x * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
  const int cCol = blockIdx.y * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);

  if (cRow < M && cCol < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[cRow * K + i] * B[i * N + cCol];
    }
    C[cRow * N + cCol] = tmp;
  }
}
