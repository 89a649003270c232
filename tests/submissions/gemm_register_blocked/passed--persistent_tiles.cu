// As many blocks as an H100 holds, which walk over tiles of 128 x 64; 8 x 4 a thread, float4 fragments, __ldg.
#define BM 128
#define BN 64
#define BK 8
// launch: walk<<<264, 256>>>(A, B, C, M, N, K)
__global__ void __launch_bounds__(256, 2) walk(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float a[BK][BM + 4];
    __shared__ __align__(16) float b[BK][BN];
    const int tid = threadIdx.x, across = (N + BN - 1) / BN, tiles = across * ((M + BM - 1) / BM);
    const int row = tid / 16 * 4, col = tid % 16 * 4;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int top = tile / across * BM, left = tile % across * BN;
        float c[8][4] = {};
        for (int t = 0; t < K; t += BK) {
            #pragma unroll
            for (int i = 0; i < 4; ++i) {
                int r = tid / 8 + 32 * i, k = tid % 8;
                a[k][r] = top + r < M && t + k < K ? __ldg(&A[(top + r) * K + t + k]) : 0.f;
            }
            #pragma unroll
            for (int i = 0; i < 2; ++i) {
                int k = tid / 64 + 4 * i, q = tid % 64;
                b[k][q] = t + k < K && left + q < N ? __ldg(&B[(t + k) * N + left + q]) : 0.f;
            }
            __syncthreads();
            #pragma unroll
            for (int k = 0; k < BK; ++k) {
                float u[8], v[4];
                *(float4*)&u[0] = *(float4*)&a[k][row];
                *(float4*)&u[4] = *(float4*)&a[k][row + 64];
                *(float4*)&v[0] = *(float4*)&b[k][col];
                #pragma unroll
                for (int i = 0; i < 8; ++i)
                    #pragma unroll
                    for (int j = 0; j < 4; ++j) c[i][j] += u[i] * v[j];
            }
            __syncthreads();
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            #pragma unroll
            for (int j = 0; j < 4; ++j) {
                int y = top + row + i % 4 + i / 4 * 64, x = left + col + j;
                if (y < M && x < N) C[y * N + x] = c[i][j];
            }
    }
}
