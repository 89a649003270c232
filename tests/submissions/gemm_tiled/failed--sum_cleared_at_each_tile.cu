// The accumulator is declared inside of the loop over the tiles: only the last one counts.
#define TILE 32
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    for (int t = 0; t < K; t += TILE) {
        float sum = 0.0f;
        a[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
        b[ty][tx] = col < N && t + ty < K ? B[(t + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
        if (row < M && col < N) C[row * N + col] = sum;
    }
}
