// threadIdx.x is the row: tiles and C are read and written down columns.
#define T 32
// launch: gemm<<<dim3(ceil_div(M, T), ceil_div(N, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    int r = threadIdx.x, c = threadIdx.y, row = blockIdx.x * T + r, col = blockIdx.y * T + c;
    float sum = 0.0f;
    for (int t = 0; t < K; t += T) {
        a[r][c] = row < M && t + c < K ? A[row * K + t + c] : 0.0f;
        b[r][c] = col < N && t + r < K ? B[(t + r) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[r][k] * b[k][c];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
