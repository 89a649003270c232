// Patches indexed by loops that stay loops: the sums live in local memory, and reads of a column of A meet one bank.
#define TILE 32
// launch: spilled<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(8, 8)>>>(A, B, C, M, N, K)
__global__ void spilled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    float c[4][4] = {};
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 8 + tx, ib = blockIdx.y * TILE, jb = blockIdx.x * TILE;
    for (int t = 0; t < K; t += TILE) {
        for (int i = tid; i < TILE * TILE; i += 64) {
            int r = i / TILE, q = i % TILE;
            as[r][q] = ib + r < M && t + q < K ? A[(ib + r) * K + t + q] : 0.0f;
            bs[r][q] = t + r < K && jb + q < N ? B[(t + r) * N + jb + q] : 0.0f;
        }
        __syncthreads();
        #pragma unroll 1
        for (int m = 0; m < 4; m++)
            #pragma unroll 1
            for (int n = 0; n < 4; n++)
                #pragma unroll 1
                for (int k = 0; k < TILE; k++) c[m][n] += as[ty + 8 * m][k] * bs[k][tx + 8 * n];
        __syncthreads();
    }
    #pragma unroll 1
    for (int m = 0; m < 4; m++)
        #pragma unroll 1
        for (int n = 0; n < 4; n++)
            if (ib + ty + 8 * m < M && jb + tx + 8 * n < N) C[(ib + ty + 8 * m) * N + jb + tx + 8 * n] = c[m][n];
}
