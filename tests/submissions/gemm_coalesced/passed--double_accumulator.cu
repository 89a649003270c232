// Products and sums in double, rounded once at the end.
// launch: gemm_d<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void gemm_d(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || col >= N) return;
    double sum = 0.0;
    for (int k = 0; k < K; ++k) sum += (double)A[row * K + k] * B[k * N + col];
    C[row * N + col] = (float)sum;
}
