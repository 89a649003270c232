// [32][33] where nothing conflicts: rows of A no longer begin at 16 bytes, so that ptxas reads them one float at a time. 1.1 x on an H100.
// expect without a model: passed, only a clock tells (1.11 x the coalesced kernel, 1.3 x are asked)
#define TILE 32
// launch: padded<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)
__global__ void padded(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < K; t += TILE) {
        a[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
        b[ty][tx] = col < N && t + ty < K ? B[(t + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
