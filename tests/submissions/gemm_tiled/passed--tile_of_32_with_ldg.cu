// 32 x 32 tiles, read with __ldg through restricted pointers.
#define TS 32
// launch: tiled_ldg<<<dim3(ceil_div(N, TS), ceil_div(M, TS)), dim3(TS, TS)>>>(A, B, C, M, N, K)
__global__ void tiled_ldg(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ float As[TS][TS], Bs[TS][TS];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
    float acc = 0.0f;
    for (int t = 0; t < K; t += TS) {
        float a = 0.0f, b = 0.0f;
        if (row < M && t + tx < K) a = __ldg(A + row * K + t + tx);
        if (col < N && t + ty < K) b = __ldg(B + (t + ty) * N + col);
        As[ty][tx] = a;
        Bs[ty][tx] = b;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TS; ++k) acc = fmaf(As[ty][k], Bs[k][tx], acc);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
