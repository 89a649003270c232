// Two pairs of tiles, one barrier a step. No faster than one pair on an H100: 64 warps an SM hide the latency already.
#define T 32
// launch: dbuf<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, C, M, N, K)
__global__ void dbuf(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[2][T][T], b[2][T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int tiles = (K + T - 1) / T;
    auto load = [&](int t) {
        a[t & 1][ty][tx] = row < M && t * T + tx < K ? A[row * K + t * T + tx] : 0.f;
        b[t & 1][ty][tx] = col < N && t * T + ty < K ? B[(t * T + ty) * N + col] : 0.f;
    };
    float s = 0;
    load(0);
    __syncthreads();
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) load(t + 1);
        for (int k = 0; k < T; ++k) s += a[t & 1][ty][k] * b[t & 1][k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = s;
}
