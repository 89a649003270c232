// 64 x 64 tiles, eight rows of one column of C a thread (one-dimensional blocking): too few products a read for 4 x.
// expect without a model: passed, only a clock tells (2.9 x the coalesced kernel, 4 x are asked)
#define BM 64
#define BN 64
#define BK 8
#define TM 8
// launch: sgemm1DBlocktiling<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), 512>>>(A, B, C, M, N, K)
__global__ void sgemm1DBlocktiling(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
  const int rowA = blockIdx.y * BM + threadIdx.x / BK, colA = threadIdx.x % BK;
  const int rowB = threadIdx.x / BN, colB = blockIdx.x * BN + threadIdx.x % BN;
  float threadResults[TM] = {0.0};
  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    As[threadIdx.x] = rowA < M && bkIdx + colA < K ? A[rowA * K + bkIdx + colA] : 0.0f;
    Bs[threadIdx.x] = bkIdx + rowB < K && colB < N ? B[(bkIdx + rowB) * N + colB] : 0.0f;
    __syncthreads();
    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (int resIdx = 0; resIdx < TM; ++resIdx)
        threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
    }
    __syncthreads();
  }
  for (int resIdx = 0; resIdx < TM; ++resIdx) {
    int row = blockIdx.y * BM + threadRow * TM + resIdx;
    if (row < M && colB < N) C[row * N + colB] = threadResults[resIdx];
  }
}
