// The launch lines use a buffer BT that no scratch line declares.
// launch: turn<<<ceil_div(N * K, 256), 256>>>(B, BT, K, N)
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, BT, C, M, N, K)
__global__ void turn(const float* in, float* out, int rows, int cols)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < rows * cols) out[i % cols * rows + i / cols] = in[i];
}

__global__ void gemm(const float* A, const float* BT, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * BT[col * K + k];
    C[row * N + col] = sum;
}
