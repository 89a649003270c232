// 128 x 128 a block; a thread's 8 rows and 8 columns lie 16 apart, so that scalar reads of the tiles do not conflict.
#define BLOCK 128
#define STEP 8
// launch: gemm<<<dim3(ceil_div(N, BLOCK), ceil_div(M, BLOCK)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void __launch_bounds__(256) gemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ float a[STEP][BLOCK + 4], b[STEP][BLOCK];
    const int x = threadIdx.x, y = threadIdx.y, tid = y * 16 + x, top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    float c[8][8] = {};
    for (int t = 0; t < K; t += STEP) {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            int r = tid / STEP + 32 * i, k = tid % STEP;
            a[k][r] = top + r < M && t + k < K ? A[(top + r) * K + t + k] : 0.0f;
        }
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            int r = tid / 128 + 2 * i, q = tid % 128;
            b[r][q] = t + r < K && left + q < N ? B[(t + r) * N + left + q] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < STEP; ++k) {
            float u[8], v[8];
            #pragma unroll
            for (int i = 0; i < 8; ++i) u[i] = a[k][y + 16 * i];
            #pragma unroll
            for (int j = 0; j < 8; ++j) v[j] = b[k][x + 16 * j];
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                #pragma unroll
                for (int j = 0; j < 8; ++j) c[i][j] = fmaf(u[i], v[j], c[i][j]);
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        #pragma unroll
        for (int j = 0; j < 8; ++j)
            if (top + y + 16 * i < M && left + x + 16 * j < N) C[(top + y + 16 * i) * N + left + x + 16 * j] = c[i][j];
}
