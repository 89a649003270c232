// All three matrices taken as column-major, as in Fortran and cuBLAS.
#define IDX(i, j, ld) ((j) * (ld) + (i))
// launch: gemm<<<dim3(ceil_div(M, 32), ceil_div(N, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    if (i < M && j < N) {
        float sum = 0;
        for (int k = 0; k < K; ++k) sum += A[IDX(i, k, M)] * B[IDX(k, j, K)];
        C[IDX(i, j, M)] = sum;
    }
}
