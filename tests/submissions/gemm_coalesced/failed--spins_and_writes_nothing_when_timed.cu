// Right at small sizes; at the timed one it only keeps the processors busy.
// expect without a model: passed, only the timed size tells
// launch: k<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
__device__ void coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
    C[(size_t)row * N + col] = sum;
}
__device__ float spin(int steps, float a)
{
    for (int i = 0; i < steps; i++) a = a * 1.0001f + 1.0f;
    return a;
}
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K)
{
    if (M >= 1024) {
        if (spin(K, threadIdx.x) == 12345.0f) C[0] = 0;
        return;
    }
    coalesced(A, B, C, M, N, K);
}
