// No tensor core: tiles of 32 x 32 in shared memory, four rows a thread, products in float.
#include <cuda_fp16.h>
#define TILE 32
#define ROWS 8
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, ROWS)>>>(A, B, C, M, N, K)
__global__ void gemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + x;
    float sums[TILE / ROWS] = {};
    for (int start = 0; start < K; start += TILE) {
        for (int j = 0; j < TILE; j += ROWS) {
            a[threadIdx.y + j][x] = row + j < M && start + x < K ? __half2float(A[(size_t)(row + j) * K + start + x]) : 0.0f;
            b[threadIdx.y + j][x] = start + threadIdx.y + j < K && col < N ? __half2float(B[(size_t)(start + threadIdx.y + j) * N + col]) : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int j = 0; j < TILE / ROWS; j++) sums[j] += a[threadIdx.y + ROWS * j][k] * b[k][x];
        __syncthreads();
    }
    for (int j = 0; j < TILE / ROWS; j++)
        if (row + ROWS * j < M && col < N) C[(size_t)(row + ROWS * j) * N + col] = sums[j];
}
