#define TS 32
// launch: mm<<<dim3(ceil_div(N, TS), ceil_div(M, TS)), dim3(TS, TS)>>>(A, B, C, M, N, K)
__global__ void mm(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float first[TS][TS];
  __shared__ float second[TS][TS];

  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;

  int mine_down = by * TS + ty;
  int mine_across = bx * TS + tx;
  float element = 0;

  for (int phase = 0; phase < (K - 1) / TS + 1; ++phase) {
    if (mine_down < M && phase * TS + tx < K)
      first[ty][tx] = A[mine_down * K + phase * TS + tx];
    else
      first[ty][tx] = 0.0f;
    if (phase * TS + ty < K && mine_across < N)
      second[ty][tx] = B[(phase * TS + ty) * N + mine_across];
    else
      second[ty][tx] = 0.0f;
    __syncthreads();

    for (int k = 0; k < TS; ++k)
      element += first[ty][k] * second[k][tx];
    __syncthreads();
  }
  if (mine_down < M && mine_across < N)
    C[mine_down * N + mine_across] = element;
}
