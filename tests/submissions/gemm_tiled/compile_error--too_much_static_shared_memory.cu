// Two static tiles of 128 x 64 floats: 64 KiB, where 48 KiB are the most.
#define T 64
// launch: gemm<<<dim3(ceil_div(N, T), ceil_div(M, 128)), dim3(T, 16)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[128][T], b[128][T];
    int x = threadIdx.x, col = blockIdx.x * T + x, top = blockIdx.y * 128;
    float sum[8] = {};
    for (int t = 0; t < K; t += T) {
        for (int j = threadIdx.y; j < 128; j += 16) {
            a[j][x] = top + j < M && t + x < K ? A[(top + j) * K + t + x] : 0.0f;
            b[j][x] = col < N && t + j < K && j < T ? B[(t + j) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int j = 0; j < 8; ++j) sum[j] += a[threadIdx.y + 16 * j][k] * b[k][x];
        __syncthreads();
    }
    for (int j = 0; j < 8; ++j)
        if (top + threadIdx.y + 16 * j < M && col < N) C[(top + threadIdx.y + 16 * j) * N + col] = sum[j];
}
