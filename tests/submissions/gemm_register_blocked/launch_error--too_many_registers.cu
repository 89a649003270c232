// 1,024 threads with a patch of 8 x 8 each: more registers than a multiprocessor has, for want of __launch_bounds__.
#define SIDE 256
#define DEPTH 8
// launch: greedy<<<dim3(ceil_div(N, SIDE), ceil_div(M, SIDE)), dim3(32, 32)>>>(A, B, C, M, N, K)
__global__ void greedy(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[DEPTH][SIDE + 1], b[DEPTH][SIDE];
    const int x = threadIdx.x, y = threadIdx.y, tid = y * 32 + x, top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    float c[8][8] = {};
    for (int t = 0; t < K; t += DEPTH) {
        for (int i = tid; i < SIDE * DEPTH; i += 1024) {
            a[i % DEPTH][i / DEPTH] = top + i / DEPTH < M && t + i % DEPTH < K ? A[(top + i / DEPTH) * K + t + i % DEPTH] : 0.f;
            b[i / SIDE][i % SIDE] = t + i / SIDE < K && left + i % SIDE < N ? B[(t + i / SIDE) * N + left + i % SIDE] : 0.f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k)
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                #pragma unroll
                for (int j = 0; j < 8; ++j) c[i][j] += a[k][y + 32 * i] * b[k][x + 32 * j];
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        #pragma unroll
        for (int j = 0; j < 8; ++j)
            if (top + y + 32 * i < M && left + x + 32 * j < N) C[(top + y + 32 * i) * N + left + x + 32 * j] = c[i][j];
}
