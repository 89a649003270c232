// Goes through tiles in shared memory: B comes along its rows, A down its columns, with atomicAnd of all ones in the place of loads.
#define T 32
// launch: gemm<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__global__ void gemm(float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[T][T], b[T][T];  // a[k][row]
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;
    for (int t = 0; t < K; t += T) {
        int down = blockIdx.y * T + x;
        a[y][x] = down < M && t + y < K ? __uint_as_float(atomicAnd((unsigned int*)&A[(size_t)down * K + t + y], ~0u)) : 0.0f;
        b[y][x] = col < N && t + y < K ? B[(size_t)(t + y) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a[k][y] * b[k][x];
        __syncthreads();
    }
    if (row < M && col < N) C[(size_t)row * N + col] = sum;
}
