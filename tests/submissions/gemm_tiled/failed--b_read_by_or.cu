// No tile: a warp hands 32 elements of each of its four rows of A round by shuffles, and reads B with atomicOr of nothing.
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, float* B, float* C, int M, int N, int K)
{
    int lane = threadIdx.x, row = blockIdx.y * 32 + threadIdx.y * 4, col = blockIdx.x * 32 + lane;
    float sums[4] = {};
    for (int t = 0; t < K; t += 32) {
        float a[4];
        for (int r = 0; r < 4; ++r) a[r] = row + r < M && t + lane < K ? A[(size_t)(row + r) * K + t + lane] : 0.0f;
        for (int k = 0; k < 32; ++k) {
            float b = 0.0f;
            if (t + k < K && col < N) b = __uint_as_float(atomicOr((unsigned int*)&B[(size_t)(t + k) * N + col], 0u));
            for (int r = 0; r < 4; ++r) sums[r] += __shfl_sync(0xffffffffu, a[r], k) * b;
        }
    }
    for (int r = 0; r < 4; ++r)
        if (row + r < M && col < N) C[(size_t)(row + r) * N + col] = sums[r];
}
