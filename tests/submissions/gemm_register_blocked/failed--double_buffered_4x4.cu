// The coalesced 4 x 4 kernel with two pairs of tiles: twice the shared memory, half the blocks, and slower than with one.
// expect without a model: passed, only a clock tells (3.1 x the coalesced kernel, 4 x are asked)
#define TILE 32
// launch: reg_db<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(8, 8)>>>(A, B, C, M, N, K)
__global__ void reg_db(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float as[2][TILE][TILE], bs[2][TILE][TILE];
    float c[4][4] = {};
    int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 8 + tx, ib = blockIdx.y * TILE, jb = blockIdx.x * TILE;
    auto load = [&](int buffer, int t) {
        for (int i = tid; i < TILE * TILE; i += 64) {
            int r = i / TILE, q = i % TILE;
            as[buffer][r][q] = ib + r < M && t + q < K ? A[(ib + r) * K + t + q] : 0.0f;
            bs[buffer][r][q] = t + r < K && jb + q < N ? B[(t + r) * N + jb + q] : 0.0f;
        }
    };
    load(0, 0);
    __syncthreads();
    int now = 0;
    for (int t = 0; t < K; t += TILE) {
        if (t + TILE < K) load(now ^ 1, t + TILE);
        for (int k = 0; k < TILE; k++) {
            float a[4], b[4];
            for (int m = 0; m < 4; m++) a[m] = as[now][ty * 4 + m][k];
            for (int n = 0; n < 4; n++) b[n] = bs[now][k][tx * 4 + n];
            for (int m = 0; m < 4; m++)
                for (int n = 0; n < 4; n++) c[m][n] += a[m] * b[n];
        }
        __syncthreads();
        now ^= 1;
    }
    for (int m = 0; m < 4; m++)
        for (int n = 0; n < 4; n++)
            if (ib + ty * 4 + m < M && jb + tx * 4 + n < N) C[(ib + ty * 4 + m) * N + jb + tx * 4 + n] = c[m][n];
}
