// Blocks of 64 x 32 threads; 1,024 are the most.
// launch: gemm<<<dim3(ceil_div(N, 64), ceil_div(M, 32)), dim3(64, 32)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 64 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
