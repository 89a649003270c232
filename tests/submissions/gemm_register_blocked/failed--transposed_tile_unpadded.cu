// A's tile is written transposed with rows of 128 floats: the 8 values of k of a row fall into one bank.
#define SIDE 128
#define DEPTH 8
// launch: gemm<<<dim3(ceil_div(N, SIDE), ceil_div(M, SIDE)), 256>>>(A, B, C, M, N, K)
__global__ void __launch_bounds__(256) gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float a[DEPTH][SIDE], b[DEPTH][SIDE];
    const int tid = threadIdx.x, top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    const int row = tid / 16 * 4, col = tid % 16 * 4;
    float c[8][8] = {};
    for (int t = 0; t < K; t += DEPTH) {
        for (int i = tid; i < SIDE * DEPTH; i += 256) {
            a[i % DEPTH][i / DEPTH] = top + i / DEPTH < M && t + i % DEPTH < K ? A[(top + i / DEPTH) * K + t + i % DEPTH] : 0.f;
            b[i / SIDE][i % SIDE] = t + i / SIDE < K && left + i % SIDE < N ? B[(t + i / SIDE) * N + left + i % SIDE] : 0.f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float u[8], v[8];
            *(float4*)&u[0] = *(float4*)&a[k][row];
            *(float4*)&u[4] = *(float4*)&a[k][row + 64];
            *(float4*)&v[0] = *(float4*)&b[k][col];
            *(float4*)&v[4] = *(float4*)&b[k][col + 64];
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                #pragma unroll
                for (int j = 0; j < 8; ++j) c[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            int y = top + row + i % 4 + i / 4 * 64, x = left + col + j % 4 + j / 4 * 64;
            if (y < M && x < N) C[y * N + x] = c[i][j];
        }
}
