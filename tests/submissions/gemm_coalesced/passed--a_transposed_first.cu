// Transposes A into scratch; the broadcast of A then lies along a column of AT, which changes nothing. Two launches.
// scratch: float AT[K * M]
// launch: flip<<<dim3(ceil_div(M, 32), ceil_div(K, 32)), dim3(32, 32)>>>(A, AT, M, K)
// launch: gemm_at<<<dim3(ceil_div(N, 64), ceil_div(M, 4)), dim3(64, 4)>>>(AT, B, C, M, N, K)
__global__ void flip(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[32][33];
    int r = blockIdx.x * 32, c = blockIdx.y * 32;
    if (r + threadIdx.y < rows && c + threadIdx.x < cols) tile[threadIdx.y][threadIdx.x] = in[(r + threadIdx.y) * cols + c + threadIdx.x];
    __syncthreads();
    if (c + threadIdx.y < cols && r + threadIdx.x < rows) out[(c + threadIdx.y) * rows + r + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void gemm_at(const float* AT, const float* B, float* C, int M, int N, int K)
{
    int n = blockIdx.x * 64 + threadIdx.x, m = blockIdx.y * 4 + threadIdx.y;
    if (m >= M || n >= N) return;
    float acc = 0.f;
    for (int k = 0; k < K; ++k) acc = fmaf(AT[k * M + m], B[k * N + n], acc);
    C[m * N + n] = acc;
}
