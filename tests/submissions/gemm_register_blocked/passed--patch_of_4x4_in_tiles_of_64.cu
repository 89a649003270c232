// 64 x 64 a block, 16 x 16 threads of 4 x 4, tiles read as float4; 16 steps of k at a time.
#define BS 64
#define BK 16
// launch: sgemm<<<dim3(ceil_div(N, BS), ceil_div(M, BS)), 256>>>(A, B, C, M, N, K)
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float at[BK][BS + 4];
    __shared__ __align__(16) float b[BK][BS];
    const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16, m0 = blockIdx.y * BS, n0 = blockIdx.x * BS;
    float c[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            // 4 rows of A by 8 values of k a warp: whole sectors, and with rows of 68 floats no conflicts.
            int r = tid / 8 + i / 2 * 32, k = tid % 8 + i % 2 * 8;
            at[k][r] = m0 + r < M && k0 + k < K ? A[(m0 + r) * K + k0 + k] : 0.f;
        }
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            int k = tid / 64 + 4 * i, n = tid % 64;
            b[k][n] = k0 + k < K && n0 + n < N ? B[(k0 + k) * N + n0 + n] : 0.f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float4 p = *(float4*)&at[k][4 * ty], q = *(float4*)&b[k][4 * tx];
            float u[4] = {p.x, p.y, p.z, p.w}, v[4] = {q.x, q.y, q.z, q.w};
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                #pragma unroll
                for (int j = 0; j < 4; ++j) c[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (m0 + 4 * ty + i < M && n0 + 4 * tx + j < N) C[(m0 + 4 * ty + i) * N + n0 + 4 * tx + j] = c[i][j];
}
