// Clears C, then two blocks for each tile of C add their half of K with atomicAdd.
// launch: clear<<<ceil_div(M * N, 256), 256>>>(C, M * N)
// launch: add<<<dim3(ceil_div(N, 32), ceil_div(M, 8), 2), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void clear(float* C, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) C[i] = 0.0f;
}

__global__ void add(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y, half = (K + 1) / 2;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = blockIdx.z * half; k < min(K, (int)(blockIdx.z + 1) * half); ++k) sum += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], sum);
}
