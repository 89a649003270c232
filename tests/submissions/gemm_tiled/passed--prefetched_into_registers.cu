// The next tile's elements are read into registers while this one's are multiplied.
#define T 32
// launch: prefetch<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__global__ void prefetch(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float next_a = row < M && tx < K ? A[row * K + tx] : 0.f;
    float next_b = col < N && ty < K ? B[ty * N + col] : 0.f;
    float sum = 0.f;
    for (int t = 0; t < K; t += T) {
        a[ty][tx] = next_a;
        b[ty][tx] = next_b;
        __syncthreads();
        next_a = row < M && t + T + tx < K ? A[row * K + t + T + tx] : 0.f;
        next_b = col < N && t + T + ty < K ? B[(t + T + ty) * N + col] : 0.f;
        #pragma unroll
        for (int k = 0; k < T; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
