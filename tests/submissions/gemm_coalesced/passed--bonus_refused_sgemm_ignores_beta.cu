// Coalesced; its SGEMM scales the product by alpha, and forgets to add beta times what C held.
// expect bonus: failed (8 of 8 cases: one tile, ragged, one product each, ...)
#define WIDTH 32
#define HEIGHT 8
// launch: gemm_coalesced<<<dim3(ceil_div(N, WIDTH), ceil_div(M, HEIGHT)), dim3(WIDTH, HEIGHT)>>>(A, B, C, M, N, K)

__global__ void gemm_coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * HEIGHT + threadIdx.y, col = blockIdx.x * WIDTH + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
        C[(size_t)row * N + col] = sum;
    }
}

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K, const float* scale)
{
    int row = blockIdx.y * HEIGHT + threadIdx.y, col = blockIdx.x * WIDTH + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
        C[(size_t)row * N + col] = scale[0] * sum;
    }
}
