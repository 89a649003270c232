// One warp a row of the block, eight rows: smaller blocks, the same coalescing.
#define BX 32
#define BY 8
// launch: k<<<dim3(ceil_div(N, BX), ceil_div(M, BY)), dim3(BX, BY)>>>(A, B, C, M, N, K)
__global__ void k(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= N || y >= M) return;
    const float* a = A + y * K;
    const float* b = B + x;
    float c = 0;
    for (int i = 0; i < K; i++, b += N) c += a[i] * *b;
    C[y * N + x] = c;
}
