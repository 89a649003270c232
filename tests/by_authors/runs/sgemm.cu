// C = alpha A B + beta C as a library has it: tiles in shared memory, four results a thread.
// run: --size M=1024 --size N=1024 --size K=1024 --input A=normal:M,K --input B=normal:K,N --output C=index:M,N
// run: --size M=2048 --size N=2048 --size K=2048 --input A=normal:M,K --input B=normal:K,N --output C=index:M,N
constexpr int BM = 32, BN = 32, BK = 8, ROWS = 4;
// launch: sgemm<BM, BN, BK><<<dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(BN, BM / ROWS)>>>(M, N, K, 1.5f, A, B, -0.5f, C)

template <int bm, int bn, int bk>
__global__ void sgemm(int M, int N, int K, float alpha, const float* __restrict__ A,
                      const float* __restrict__ B, float beta, float* __restrict__ C) {
  __shared__ float a[bk][bm + 1], b[bk][bn];
  const int row0 = blockIdx.y * bm, col = blockIdx.x * bn + threadIdx.x;
  const int thread = threadIdx.y * bn + threadIdx.x, threads = bn * bm / ROWS;
  float sum[ROWS] = {};
  for (int k0 = 0; k0 < K; k0 += bk) {
    for (int i = thread; i < bm * bk; i += threads) {
      int r = i / bk, k = i % bk;
      a[k][r] = row0 + r < M && k0 + k < K ? A[(row0 + r) * K + k0 + k] : 0.0f;
    }
    for (int i = thread; i < bk * bn; i += threads) {
      int k = i / bn, c = i % bn;
      b[k][c] = k0 + k < K && blockIdx.x * bn + c < N ? B[(k0 + k) * N + blockIdx.x * bn + c] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < bk; ++k)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) sum[r] += a[k][threadIdx.y * ROWS + r] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (col >= N) return;
  for (int r = 0; r < ROWS; ++r) {
    int row = row0 + threadIdx.y * ROWS + r;
    if (row < M) C[row * N + col] = alpha * sum[r] + beta * C[row * N + col];
  }
}
template __global__ void sgemm<BM, BN, BK>(int, int, int, float, const float*, const float*, float, float*);
