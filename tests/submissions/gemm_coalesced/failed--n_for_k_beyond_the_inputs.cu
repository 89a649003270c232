// The sum runs to N instead of K: too short for small N, beyond the ends of A and B for large N.
// expect on an emulated device: runtime_error (reads beyond a buffer)
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < N; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
