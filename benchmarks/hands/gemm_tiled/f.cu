#define D 32
// launch: product<<<dim3(ceil_div(N, D), ceil_div(M, D)), D * D>>>(A, B, C, M, N, K)
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float s[2][D][D];
    int lane = threadIdx.x % D;
    int warp = threadIdx.x / D;
    int r = D * blockIdx.y + warp, c = D * blockIdx.x + lane;
    bool inRow = r < M, inCol = c < N;
    const float* pa = A + (inRow ? r : 0) * K;
    const float* pb = B + (inCol ? c : 0);
    float dot = 0;
    int left = K;
    for (int k0 = 0; left > 0; k0 += D, left -= D) {
        s[0][warp][lane] = inRow && lane < left ? pa[k0 + lane] : 0;
        s[1][warp][lane] = inCol && warp < left ? pb[(k0 + warp) * N] : 0;
        __syncthreads();
        int stop = min(left, D);
        for (int i = 0; i < stop; ++i) dot += s[0][warp][i] * s[1][i][lane];
        __syncthreads();
    }
    if (inRow && inCol) C[r * N + c] = dot;
}
