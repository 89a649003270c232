// Lambdas for the three matrices; one returns a reference.
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    auto a = [=](int i, int k) { return A[i * K + k]; };
    auto b = [=](int k, int j) { return B[k * N + j]; };
    auto c = [=](int i, int j) -> float& { return C[i * N + j]; };
    const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M && j < N) {
        float sum = 0.f;
        for (int k = 0; k < K; ++k) sum += a(i, k) * b(k, j);
        c(i, j) = sum;
    }
}
