#define BM 32
#define BN 32
#define BK 32
// launch: sgemm<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), 1024>>>(M, N, K, A, B, C)
__global__ void sgemm(int M, int N, int K, const float* A, const float* B, float* C)
{
    const unsigned down = blockIdx.y;
    const unsigned across = blockIdx.x;
    __shared__ float left_part[BM * BK];
    __shared__ float right_part[BK * BN];
    const unsigned inner_col = threadIdx.x % BN;
    const unsigned inner_row = threadIdx.x / BN;
    const int rowsLeft = M - down * BM;
    const int colsLeft = N - across * BN;
    A += down * BM * K;
    B += across * BN;
    C += down * BM * N + across * BN;
    float sum = 0.0f;
    for (int start = 0; start < K; start += BK) {
        left_part[inner_row * BK + inner_col] = (inner_row < rowsLeft && start + inner_col < K) ? A[inner_row * K + inner_col] : 0.0f;
        right_part[inner_row * BN + inner_col] = (start + inner_row < K && inner_col < colsLeft) ? B[inner_row * N + inner_col] : 0.0f;
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int term = 0; term < BK; ++term) {
            sum += left_part[inner_row * BK + term] * right_part[term * BN + inner_col];
        }
        __syncthreads();
    }
    if (inner_row < rowsLeft && inner_col < colsLeft) C[inner_row * N + inner_col] = sum;
}
