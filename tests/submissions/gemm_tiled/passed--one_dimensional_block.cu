// 1-D block of 1,024 threads in a 1-D grid: / and % for the place in the tile and for the tile.
// launch: gemm1d<<<ceil_div(M, 32) * ceil_div(N, 32), 1024>>>(A, B, C, M, N, K)
extern "C" __global__ void gemm1d(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[1024], b[1024];
    int across = (N + 31) / 32;
    int r = threadIdx.x / 32, c = threadIdx.x % 32;
    int row = blockIdx.x / across * 32 + r, col = blockIdx.x % across * 32 + c;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[threadIdx.x] = row < M && k0 + c < K ? A[row * K + k0 + c] : 0;
        b[threadIdx.x] = col < N && k0 + r < K ? B[(k0 + r) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[r * 32 + k] * b[k * 32 + c];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
