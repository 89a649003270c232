// A fixed grid whose blocks walk over the tiles of C; 64-bit offsets; four rows a thread.
// launch: walk<<<528, dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void walk(const float* A, const float* B, float* C, long long M, long long N, long long K)
{
    __shared__ float a[32][32], b[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    const int across = (int)((N + 31) / 32), tiles = across * (int)((M + 31) / 32);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const long long top = tile / across * 32, col = tile % across * 32 + x;
        float sum[4] = {};
        for (long long t = 0; t < K; t += 32) {
            for (int j = y; j < 32; j += 8) {
                a[j][x] = top + j < M && t + x < K ? A[(top + j) * K + t + x] : 0.0f;
                b[j][x] = col < N && t + j < K ? B[(t + j) * N + col] : 0.0f;
            }
            __syncthreads();
            for (int k = 0; k < 32; ++k)
                for (int j = 0; j < 4; ++j) sum[j] += a[y + 8 * j][k] * b[k][x];
            __syncthreads();
        }
        for (int j = 0; j < 4; ++j)
            if (top + y + 8 * j < M && col < N) C[(top + y + 8 * j) * N + col] = sum[j];
    }
}
