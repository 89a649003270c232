// template<int BM, int BN, int BK, int TM, int TN>, instantiated for a 128 x 128 tile with 8 x 8 a thread that lie apart.
// launch: gemm<128, 128, 8, 8, 8><<<dim3(ceil_div(N, 128), ceil_div(M, 128)), 256>>>(A, B, C, M, N, K)
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(256) gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    constexpr int threads_x = BN / TN, threads_y = BM / TM, threads = threads_x * threads_y;
    __shared__ float a[BK][BM + 4];
    __shared__ float b[BK][BN];
    const int tid = threadIdx.x, x = tid % threads_x, y = tid / threads_x;
    const int top = blockIdx.y * BM, left = blockIdx.x * BN;
    float c[TM][TN] = {};
    for (int t = 0; t < K; t += BK) {
        #pragma unroll
        for (int i = tid; i < BM * BK; i += threads) {
            int r = i / BK, k = i % BK;
            a[k][r] = top + r < M && t + k < K ? A[(size_t)(top + r) * K + t + k] : 0.0f;
        }
        #pragma unroll
        for (int i = tid; i < BK * BN; i += threads) {
            int k = i / BN, q = i % BN;
            b[k][q] = t + k < K && left + q < N ? B[(size_t)(t + k) * N + left + q] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float u[TM], v[TN];
            #pragma unroll
            for (int i = 0; i < TM; ++i) u[i] = a[k][y + i * threads_y];
            #pragma unroll
            for (int j = 0; j < TN; ++j) v[j] = b[k][x + j * threads_x];
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int j = 0; j < TN; ++j) c[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < TM; ++i)
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            int row = top + y + i * threads_y, col = left + x + j * threads_x;
            if (row < M && col < N) C[(size_t)row * N + col] = c[i][j];
        }
}
template __global__ void gemm<128, 128, 8, 8, 8>(const float*, const float*, float*, int, int, int);
