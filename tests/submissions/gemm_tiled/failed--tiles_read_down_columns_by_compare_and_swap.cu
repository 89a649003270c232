// Tiles of 32 x 32 are read down columns, with atomicCAS of zero for zero: many sectors, but none of a plain load.
#define T 32
// launch: gemm<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__device__ float read(float* from) { return __uint_as_float(atomicCAS((unsigned int*)from, 0u, 0u)); }

__global__ void gemm(float* A, float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T + 1], b[T][T + 1];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T, col = blockIdx.x * T;
    float sum = 0.0f;
    for (int t = 0; t < K; t += T) {
        a[x][y] = row + x < M && t + y < K ? read(&A[(size_t)(row + x) * K + t + y]) : 0.0f;
        b[x][y] = col + y < N && t + x < K ? read(&B[(size_t)(t + x) * N + col + y]) : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row + y < M && col + x < N) C[(size_t)(row + y) * N + col + x] = sum;
}
