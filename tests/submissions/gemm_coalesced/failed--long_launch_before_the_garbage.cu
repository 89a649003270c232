// A first launch that takes long and leaves nothing; at the timed size the second one writes garbage into one row.
// expect without a model: passed, only the timed size tells
// scratch: float t[32]
// launch: nothing<<<4096, 256>>>(t, M)
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
__global__ void nothing(float* t, int M)
{
    if (M >= 1024 && spin(4096, threadIdx.x) == 12345.0f) t[0] = 0;
}

__global__ void k(const float* A, const float* B, float* C, int M, int N, int K)
{
    if (M >= 1024) {
        if (blockIdx.x + blockIdx.y == 0) C[threadIdx.x] = -1.0f;
        return;
    }
    coalesced(A, B, C, M, N, K);
}
