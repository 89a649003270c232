// Four adjacent columns a thread, one float at a time: the lanes of one load lie 16 bytes apart.
// launch: adjacent<<<dim3(ceil_div(N, 128), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void adjacent(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = (blockIdx.x * 32 + threadIdx.x) * 4, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M) return;
    float sum[4] = {};
    for (int k = 0; k < K; ++k) {
        float a = A[row * K + k];
        for (int j = 0; j < 4; ++j)
            if (col + j < N) sum[j] += a * B[k * N + col + j];
    }
    for (int j = 0; j < 4; ++j)
        if (col + j < N) C[row * N + col + j] = sum[j];
}
