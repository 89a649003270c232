// x is the column, but blocks are 16 wide: a warp spans two rows, so that B comes twice. Load efficiency 56 %.
// launch: gemm16<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void gemm16(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 16 + threadIdx.x;
    int row = blockIdx.y * 16 + threadIdx.y;
    if (row < M && col < N) {
        float s = 0.0f;
        for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
        C[row * N + col] = s;
    }
}
