// Each thread computes four columns that lie 32 apart: one element of A serves four of B.
// launch: four<<<dim3(ceil_div(N, 128), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void four(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 128 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M) return;
    float sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < K; ++k) {
        float a = A[row * K + k];
        #pragma unroll
        for (int j = 0; j < 4; ++j)
            if (col + 32 * j < N) sum[j] += a * B[k * N + col + 32 * j];
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j)
        if (col + 32 * j < N) C[row * N + col + 32 * j] = sum[j];
}
