// The naive kernel with blocks of 16 x 16: half a warp down one column, half down the next one.
#define BLOCK 16
// launch: matmul<<<dim3(ceil_div(M, BLOCK), ceil_div(N, BLOCK)), dim3(BLOCK, BLOCK)>>>(A, B, C, M, N, K)
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int j = blockIdx.y * BLOCK + threadIdx.y;
    if (i >= M || j >= N) return;
    float acc = 0.f;
    for (int k = 0; k < K; k++) acc += A[i * K + k] * B[k * N + j];
    C[i * N + j] = acc;
}
