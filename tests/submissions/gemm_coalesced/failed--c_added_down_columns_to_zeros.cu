// Clears C along its rows, then each warp adds a column of sums to it, with atomics that return nothing.
// launch: clear<<<ceil_div(M * N, 256), 256>>>(C, M * N)
// launch: add<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
__global__ void clear(float* C, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) C[i] = 0.0f;
}

__global__ void add(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float sums[32][33];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
    float sum = 0.0f;
    if (row < M && col < N)
        for (int k = 0; k < K; ++k) sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
    sums[y][x] = sum;
    __syncthreads();
    row = blockIdx.y * 32 + x;
    col = blockIdx.x * 32 + y;
    if (row < M && col < N) atomicAdd(&C[(size_t)row * N + col], sums[x][y]);
}
