// float4 reads of rows of B, whatever N is: rows no longer begin at multiples of 16 bytes.
#define TILE 64
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float a[16][TILE + 1], b[16][TILE];
    const int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    float c[4][4] = {};
    for (int t = 0; t < K; t += 16) {
        for (int i = y; i < TILE; i += 16) a[x][i] = top + i < M && t + x < K ? A[(top + i) * K + t + x] : 0.f;
        float4 quad = make_float4(0.f, 0.f, 0.f, 0.f);
        if (t + y < K && left + 4 * x + 3 < N) quad = *reinterpret_cast<const float4*>(&B[(t + y) * N + left + 4 * x]);
        else if (t + y < K) {
            if (left + 4 * x < N) quad.x = B[(t + y) * N + left + 4 * x];
            if (left + 4 * x + 1 < N) quad.y = B[(t + y) * N + left + 4 * x + 1];
            if (left + 4 * x + 2 < N) quad.z = B[(t + y) * N + left + 4 * x + 2];
        }
        *reinterpret_cast<float4*>(&b[y][4 * x]) = quad;
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) c[i][j] += a[k][y + 16 * i] * b[k][x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (top + y + 16 * i < M && left + x + 16 * j < N) C[(top + y + 16 * i) * N + left + x + 16 * j] = c[i][j];
}
