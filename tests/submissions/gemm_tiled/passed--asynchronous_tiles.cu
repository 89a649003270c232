// Tiles by cp.async (__pipeline_memcpy_async) in two buffers, four rows a thread.
#include <cuda_pipeline.h>
#define T 32
// launch: async<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, 8)>>>(A, B, C, M, N, K)
__device__ void copy(float* to, const float* from, bool inside)
{
    if (inside) __pipeline_memcpy_async(to, from, 4);
    else *to = 0.0f;
}

__global__ void async(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[2][T][T], b[2][T][T];
    const int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * T, col = blockIdx.x * T + x;
    auto bring = [&](int t) {
        for (int j = y; j < T; j += 8) {
            copy(&a[t & 1][j][x], &A[(top + j) * K + t * T + x], top + j < M && t * T + x < K);
            copy(&b[t & 1][j][x], &B[(t * T + j) * N + col], col < N && t * T + j < K);
        }
        __pipeline_commit();
    };
    float sum[4] = {};
    bring(0);
    for (int t = 0; t * T < K; ++t) {
        if ((t + 1) * T < K) bring(t + 1);
        else __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int j = 0; j < 4; ++j) sum[j] += a[t & 1][y + 8 * j][k] * b[t & 1][k][x];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j)
        if (top + y + 8 * j < M && col < N) C[(top + y + 8 * j) * N + col] = sum[j];
}
