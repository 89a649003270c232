// row <= M in place of row < M: a row of C more than there is.
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 8) + 1), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row <= M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[min(row, M - 1) * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
