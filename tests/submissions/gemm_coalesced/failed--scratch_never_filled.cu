// The transpose of B is declared and read, but the launch that fills it was left out.
// expect points: 0
// scratch: float BT[N * K]
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, BT, C, M, N, K)
__global__ void gemm(const float* A, const float* BT, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * BT[col * K + k];
    C[row * N + col] = sum;
}
