// Two columns a thread in one __half2, multiplied and added with __hfma2: half the registers, and 11 bits of sum.
#include <cuda_fp16.h>
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __half2 a[32][33], b[32][17];
    const int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * 32, left = blockIdx.x * 32;
    __half2 c[2] = {__float2half2_rn(0.f), __float2half2_rn(0.f)};
    for (int t = 0; t < K; t += 32) {
        for (int r = y; r < 32; r += 16) {
            for (int q = x; q < 32; q += 16)
                a[r][q] = __float2half2_rn(top + r < M && t + q < K ? A[(top + r) * K + t + q] : 0.f);
            float low = t + r < K && left + x < N ? B[(t + r) * N + left + x] : 0.f;
            float high = t + r < K && left + x + 16 < N ? B[(t + r) * N + left + x + 16] : 0.f;
            b[r][x] = __floats2half2_rn(low, high);
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            for (int i = 0; i < 2; ++i) c[i] = __hfma2(a[y + 16 * i][k], b[k][x], c[i]);
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i) {
        int row = top + y + 16 * i, col = left + x;
        if (row < M && col < N) C[row * N + col] = __low2float(c[i]);
        if (row < M && col + 16 < N) C[row * N + col + 16] = __high2float(c[i]);
    }
}
