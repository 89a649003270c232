// The patch is an array whose size is a parameter: not a constant, and not C++.
// launch: gemm<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(8, 8)>>>(A, B, C, M, N, K, 4)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K, int r)
{
    float c[r][r];
    int row = (blockIdx.y * 8 + threadIdx.y) * r, col = (blockIdx.x * 8 + threadIdx.x) * r;
    for (int m = 0; m < r; m++)
        for (int n = 0; n < r; n++) {
            c[m][n] = 0.0f;
            for (int k = 0; k < K; k++)
                if (row + m < M && col + n < N) c[m][n] += A[(row + m) * K + k] * B[k * N + col + n];
            if (row + m < M && col + n < N) C[(row + m) * N + col + n] = c[m][n];
        }
}
