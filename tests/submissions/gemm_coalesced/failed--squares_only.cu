// Does nothing unless all three sizes are equal.
// expect points: 0
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(N, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    if (M != N || N != K) return;
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (row < N && col < N) {
        float sum = 0;
        for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
