// Two rows a thread; the sum of the first one is not cleared for the second one.
// launch: two<<<dim3(ceil_div(N, 32), ceil_div(M, 16)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void two(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    if (col >= N) return;
    float sum = 0.0f;
    for (int row = blockIdx.y * 16 + threadIdx.y; row < min(M, ((int)blockIdx.y + 1) * 16); row += 8) {
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
