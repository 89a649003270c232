// long long and size_t everywhere, "so that nothing overflows"; sizes are 64-bit parameters.
// launch: gemm64<<<dim3(ceil_div(N, 32), ceil_div(M, 16)), dim3(32, 16)>>>(A, B, C, M, N, K)
__global__ void gemm64(const float* A, const float* B, float* C, long long M, long long N, size_t K)
{
    long long col = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (size_t k = 0; k < K; ++k) sum += A[(size_t)row * K + k] * B[k * (size_t)N + col];
    C[row * N + col] = sum;
}
