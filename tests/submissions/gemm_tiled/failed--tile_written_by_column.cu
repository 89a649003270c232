// The tile of A is written transposed, without padding: 32 wavefronts a write, and none too many while it is read.
#define T 32
#define ROWS 8
// launch: written<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, ROWS)>>>(A, B, C, M, N, K)
__global__ void written(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float at[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * T, col = blockIdx.x * T + tx;
    float sum[4] = {};
    for (int t = 0; t < K; t += T) {
        for (int j = ty; j < T; j += ROWS) {
            at[tx][j] = top + j < M && t + tx < K ? A[(top + j) * K + t + tx] : 0.0f;
            b[j][tx] = col < N && t + j < K ? B[(t + j) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int j = 0; j < 4; ++j) sum[j] += at[k][ty + j * ROWS] * b[k][tx];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j)
        if (top + ty + j * ROWS < M && col < N) C[(top + ty + j * ROWS) * N + col] = sum[j];
}
