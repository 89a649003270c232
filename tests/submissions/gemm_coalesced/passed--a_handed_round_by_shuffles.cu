// Each lane reads one of 32 elements of A's row, and the warp hands them round with __shfl_sync.
// launch: shuffled<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void shuffled(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int lane = threadIdx.x, col = blockIdx.x * 32 + lane, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M) return;  // the whole warp
    float sum = 0.f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        float mine = k0 + lane < K ? A[row * K + k0 + lane] : 0.f;
        int steps = min(32, K - k0);
        for (int k = 0; k < steps; ++k) {
            float a = __shfl_sync(0xffffffffu, mine, k);
            if (col < N) sum += a * B[(k0 + k) * N + col];
        }
    }
    if (col < N) C[row * N + col] = sum;
}
