// No barrier between filling the tiles and reading them.
#define TILE 64
#define STEP 16
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE];
    const int x = threadIdx.x, y = threadIdx.y, tid = y * 16 + x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    float c[4][4] = {};
    for (int t = 0; t < K; t += STEP) {
        for (int i = tid; i < TILE * STEP; i += 256) {
            a[i % STEP][i / STEP] = top + i / STEP < M && t + i % STEP < K ? A[(top + i / STEP) * K + t + i % STEP] : 0.f;
            b[i / TILE][i % TILE] = t + i / TILE < K && left + i % TILE < N ? B[(t + i / TILE) * N + left + i % TILE] : 0.f;
        }
        for (int k = 0; k < STEP; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) c[i][j] += a[k][y + 16 * i] * b[k][x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (top + y + 16 * i < M && left + x + 16 * j < N) C[(top + y + 16 * i) * N + left + x + 16 * j] = c[i][j];
}
