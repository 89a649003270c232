// Tiles of __half: half of the shared memory, and three digits of the inputs.
#include <cuda_fp16.h>
#define T 32
// launch: gemm<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __half a[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int t = 0; t < K; t += T) {
        a[ty][tx] = __float2half(row < M && t + tx < K ? A[row * K + t + tx] : 0.0f);
        b[ty][tx] = __float2half(col < N && t + ty < K ? B[(t + ty) * N + col] : 0.0f);
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += __half2float(a[ty][k]) * __half2float(b[k][tx]);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
