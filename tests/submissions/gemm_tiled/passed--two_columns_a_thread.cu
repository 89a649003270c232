// 32 rows by 64 columns of C a block; a thread computes two columns that lie 32 apart.
// launch: wide<<<dim3(ceil_div(N, 64), ceil_div(M, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
__global__ void wide(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[32][32], b[32][64];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, col = blockIdx.x * 64 + x;
    float left = 0.f, right = 0.f;
    for (int t = 0; t < K; t += 32) {
        a[y][x] = row < M && t + x < K ? A[row * K + t + x] : 0.f;
        b[y][x] = col < N && t + y < K ? B[(t + y) * N + col] : 0.f;
        b[y][x + 32] = col + 32 < N && t + y < K ? B[(t + y) * N + col + 32] : 0.f;
        __syncthreads();
        #pragma unroll 8
        for (int k = 0; k < 32; ++k) {
            left += a[y][k] * b[k][x];
            right += a[y][k] * b[k][x + 32];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = left;
    if (row < M && col + 32 < N) C[row * N + col + 32] = right;
}
