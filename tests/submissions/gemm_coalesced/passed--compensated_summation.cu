// Kahan's summation: more exact than asked, four additions a product.
// launch: kahan<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
__global__ void kahan(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f, lost = 0.0f;
    for (int k = 0; k < K; ++k) {
        float y = __fsub_rn(__fmul_rn(A[row * K + k], B[k * N + col]), lost);
        float t = __fadd_rn(sum, y);
        lost = __fsub_rn(__fsub_rn(t, sum), y);
        sum = t;
    }
    C[row * N + col] = sum;
}
