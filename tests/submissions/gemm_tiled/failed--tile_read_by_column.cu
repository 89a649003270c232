// The tile of B is kept transposed and read by column: 32 wavefronts a read. 9.9 ms where the textbook kernel takes 1.9 on an H100.
#define T 32
// launch: by_column<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__global__ void by_column(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], bt[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int t = 0; t < K; t += T) {
        a[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
        bt[tx][ty] = col < N && t + ty < K ? B[(t + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[ty][k] * bt[tx][k];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
