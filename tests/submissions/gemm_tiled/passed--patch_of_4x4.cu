// A student ahead of the course: 64 x 64 elements of C a block, 4 x 4 a thread that lie 16 apart.
// launch: patch<<<dim3(ceil_div(N, 64), ceil_div(M, 64)), dim3(16, 16)>>>(A, B, C, M, N, K)
__global__ void patch(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[64][16], b[16][64];
    const int x = threadIdx.x, y = threadIdx.y, tid = y * 16 + x, top = blockIdx.y * 64, left = blockIdx.x * 64;
    float c[4][4] = {};
    for (int t = 0; t < K; t += 16) {
        for (int i = y; i < 64; i += 16) a[i][x] = top + i < M && t + x < K ? A[(top + i) * K + t + x] : 0.0f;
        for (int i = tid; i < 1024; i += 256)
            b[i / 64][i % 64] = t + i / 64 < K && left + i % 64 < N ? B[(t + i / 64) * N + left + i % 64] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 16; ++k)
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                #pragma unroll
                for (int j = 0; j < 4; ++j) c[i][j] += a[y + 16 * i][k] * b[k][x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (top + y + 16 * i < M && left + x + 16 * j < N) C[(top + y + 16 * i) * N + left + x + 16 * j] = c[i][j];
}
