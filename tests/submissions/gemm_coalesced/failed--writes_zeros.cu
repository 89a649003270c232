// Zeros: near enough to a sum of random signs for an absolute tolerance.
// expect points: 0
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(C, A, B, M, N, K)
__global__ void gemm(float* C, const float* A, const float* B, int M, int N, int K)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || column >= N) return;
    C[row * N + column] = 0.0f;
}
