// Grid-stride loops in both directions over a grid that does not depend on the sizes.
// launch: strided<<<dim3(16, 132), dim3(64, 4)>>>(A, B, C, M, N, K)
__global__ void strided(const float* A, const float* B, float* C, int M, int N, int K)
{
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < M; row += gridDim.y * blockDim.y)
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < N; col += gridDim.x * blockDim.x) {
            float s = 0.0f;
            for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
            C[row * N + col] = s;
        }
}
