// Only A goes through shared memory; B is read from global memory for each product.
#define T 32
// launch: half_way<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__global__ void half_way(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int t = 0; t < K; t += T) {
        a[ty][tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
        __syncthreads();
        if (col < N)
            for (int k = 0; k < min(T, K - t); ++k) sum += a[ty][k] * B[(t + k) * N + col];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
