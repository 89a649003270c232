// Each thread brings the 4 x 4 elements that lie where its patch does: the lanes of a load are 16 bytes apart.
#define TILE 32
// launch: reg_unco<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(8, 8)>>>(A, B, C, M, N, K)
__global__ void reg_unco(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    float c[4][4] = {};
    int x = threadIdx.x * 4, y = threadIdx.y * 4, ib = blockIdx.y * TILE, jb = blockIdx.x * TILE;
    for (int t = 0; t < K; t += TILE) {
        for (int r = y; r < y + 4; r++)
            for (int q = x; q < x + 4; q++) {
                as[r][q] = ib + r < M && t + q < K ? A[(ib + r) * K + t + q] : 0.0f;
                bs[r][q] = t + r < K && jb + q < N ? B[(t + r) * N + jb + q] : 0.0f;
            }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int m = 0; m < 4; m++)
                for (int n = 0; n < 4; n++) c[m][n] += as[y + m][k] * bs[k][x + n];
        __syncthreads();
    }
    for (int m = 0; m < 4; m++)
        for (int n = 0; n < 4; n++)
            if (ib + y + m < M && jb + x + n < N) C[(ib + y + m) * N + jb + x + n] = c[m][n];
}
