// template<int TILE, int ROWS>, instantiated for 32 x 8 and 32 x 16 threads; launched with the latter.
// launch: gemm<32, 16><<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 16)>>>(A, B, C, M, N, K)
template <int TILE, int ROWS>
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    constexpr int each = TILE / ROWS;
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * TILE, col = blockIdx.x * TILE + x;
    float sum[each] = {};
    for (int t = 0; t < K; t += TILE) {
        #pragma unroll
        for (int j = 0; j < each; ++j) {
            const int r = y + j * ROWS;
            a[r][x] = top + r < M && t + x < K ? A[(top + r) * K + t + x] : 0.0f;
            b[r][x] = col < N && t + r < K ? B[(t + r) * N + col] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TILE; ++k)
            #pragma unroll
            for (int j = 0; j < each; ++j) sum[j] += a[y + j * ROWS][k] * b[k][x];
        __syncthreads();
    }
    for (int j = 0; j < each; ++j)
        if (top + y + j * ROWS < M && col < N) C[(top + y + j * ROWS) * N + col] = sum[j];
}
template __global__ void gemm<32, 8>(const float*, const float*, float*, int, int, int);
template __global__ void gemm<32, 16>(const float*, const float*, float*, int, int, int);
