// 4 x 4 patches; the tile of B comes along its rows, that of A down its columns, with atomicOr of nothing in the place of loads.
#define TILE 32
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(8, 8)>>>(A, B, C, M, N, K)
__device__ float read(float* from) { return __uint_as_float(atomicOr((unsigned int*)from, 0u)); }

__global__ void gemm(float* A, float* B, float* C, int M, int N, int K)
{
    __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
    float c[4][4] = {};
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 8 + tx, ib = blockIdx.y * TILE, jb = blockIdx.x * TILE;
    for (int t = 0; t < K; t += TILE) {
        for (int i = tid; i < TILE * TILE; i += 64) {
            int q = i / TILE, r = i % TILE;
            as[r][q] = ib + r < M && t + q < K ? read(&A[(size_t)(ib + r) * K + t + q]) : 0.0f;
            bs[q][r] = t + q < K && jb + r < N ? B[(size_t)(t + q) * N + jb + r] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float a[4], b[4];
            for (int m = 0; m < 4; m++) a[m] = as[ty * 4 + m][k];
            for (int n = 0; n < 4; n++) b[n] = bs[k][tx + n * 8];
            for (int m = 0; m < 4; m++)
                for (int n = 0; n < 4; n++) c[m][n] += a[m] * b[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < 4; m++)
        for (int n = 0; n < 4; n++)
            if (ib + ty * 4 + m < M && jb + tx + n * 8 < N) C[(size_t)(ib + ty * 4 + m) * N + jb + tx + n * 8] = c[m][n];
}
