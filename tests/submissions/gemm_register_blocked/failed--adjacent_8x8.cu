// 8 x 8 adjacent elements a thread, read one float at a time: neighbouring threads are 8 words apart, and share 4 banks.
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
// launch: sgemm2DBlocktiling<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), 256>>>(A, B, C, M, N, K)
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
sgemm2DBlocktiling(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  const int top = blockIdx.y * BM, left = blockIdx.x * BN;
  float results[TM * TN] = {0.0}, regM[TM] = {0.0}, regN[TN] = {0.0};
  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) {
      int r = i / BK, k = i % BK;
      As[i] = top + r < M && bkIdx + k < K ? A[(top + r) * K + bkIdx + k] : 0.0f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += 256) {
      int k = i / BN, c = i % BN;
      Bs[i] = bkIdx + k < K && left + c < N ? B[(bkIdx + k) * N + left + c] : 0.0f;
    }
    __syncthreads();
    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (int i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n) results[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m)
    for (int n = 0; n < TN; ++n) {
      int row = top + threadRow * TM + m, col = left + threadCol * TN + n;
      if (row < M && col < N) C[row * N + col] = results[m * TN + n];
    }
}
