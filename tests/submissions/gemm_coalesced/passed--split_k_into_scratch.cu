// K in four parts, whose sums go to scratch; a second kernel adds them up.
#define PARTS 4
// scratch: float partial[PARTS * M * N]
// launch: part<<<dim3(ceil_div(N, 32), ceil_div(M, 8), PARTS), dim3(32, 8)>>>(A, B, partial, M, N, K)
// launch: add_up<<<ceil_div(M * N, 256), 256>>>(partial, C, M * N)
__global__ void part(const float* A, const float* B, float* partial, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || col >= N) return;
    int length = (K + PARTS - 1) / PARTS, begin = blockIdx.z * length, end = min(begin + length, K);
    float sum = 0.0f;
    for (int k = begin; k < end; ++k) sum += A[row * K + k] * B[k * N + col];
    partial[(blockIdx.z * M + row) * N + col] = sum;
}

__global__ void add_up(const float* partial, float* C, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int p = 0; p < PARTS; ++p) sum += partial[p * n + i];
    C[i] = sum;
}
