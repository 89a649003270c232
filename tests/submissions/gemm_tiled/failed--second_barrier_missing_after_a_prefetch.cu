// Prefetched into registers, and no barrier before they overwrite the tiles: what slower warps still read is gone.
#define TILE 32
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float next_a = row < M && tx < K ? A[row * K + tx] : 0.0f;
    float next_b = col < N && ty < K ? B[ty * N + col] : 0.0f;
    float sum = 0.0f;
    for (int t = 0; t < K; t += TILE) {
        a[ty][tx] = next_a;
        b[ty][tx] = next_b;
        __syncthreads();
        next_a = row < M && t + TILE + tx < K ? A[row * K + t + TILE + tx] : 0.0f;
        next_b = col < N && t + TILE + ty < K ? B[(t + TILE + ty) * N + col] : 0.0f;
        for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
