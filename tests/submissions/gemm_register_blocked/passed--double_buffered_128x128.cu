// As the vectorised 128 x 128 kernel, with two pairs of tiles and one barrier a step.
#define TILE 128
#define STEP 8
// launch: gemm<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), 256>>>(A, B, C, M, N, K)
__device__ __forceinline__ float get(const float* p, int y, int x, int height, int width)
{
    return y < height && x < width ? p[(size_t)y * width + x] : 0.0f;
}

__device__ __forceinline__ float4 get4(const float* p, int y, int x, int height, int width, bool whole)
{
    if (whole) return *reinterpret_cast<const float4*>(p + (size_t)y * width + x);
    return make_float4(get(p, y, x, height, width), get(p, y, x + 1, height, width), get(p, y, x + 2, height, width),
                       get(p, y, x + 3, height, width));
}

__global__ void __launch_bounds__(256, 2) gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float as[2][STEP][TILE + 4], bs[2][STEP][TILE];
    const int tid = threadIdx.x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    const bool whole = top + TILE <= M && left + TILE <= N && K % STEP == 0 && N % 4 == 0;
    const int ar = tid / 2, ak = tid % 2 * 4, bk = tid / 32, bc = tid % 32 * 4;
    const int row = tid / 16 * 4, col = tid % 16 * 4;
    float4 a4, b4;
    auto fetch = [&](int t) {
        a4 = get4(A, top + ar, t + ak, M, K, whole);
        b4 = get4(B, t + bk, left + bc, K, N, whole);
    };
    auto put = [&](int buffer) {
        as[buffer][ak][ar] = a4.x;
        as[buffer][ak + 1][ar] = a4.y;
        as[buffer][ak + 2][ar] = a4.z;
        as[buffer][ak + 3][ar] = a4.w;
        *reinterpret_cast<float4*>(&bs[buffer][bk][bc]) = b4;
    };
    float c[8][8] = {};
    fetch(0);
    put(0);
    __syncthreads();
    int now = 0;
    for (int t = 0; t < K; t += STEP, now ^= 1) {
        const bool more = t + STEP < K;
        if (more) fetch(t + STEP);
        #pragma unroll
        for (int k = 0; k < STEP; ++k) {
            float a[8], b[8];
            #pragma unroll
            for (int h = 0; h < 2; ++h) {
                *reinterpret_cast<float4*>(&a[4 * h]) = *reinterpret_cast<const float4*>(&as[now][k][row + 64 * h]);
                *reinterpret_cast<float4*>(&b[4 * h]) = *reinterpret_cast<const float4*>(&bs[now][k][col + 64 * h]);
            }
            #pragma unroll
            for (int i = 0; i < 8; ++i)
                #pragma unroll
                for (int j = 0; j < 8; ++j) c[i][j] += a[i] * b[j];
        }
        if (more) put(now ^ 1);
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
            int y = top + row + i % 4 + i / 4 * 64, x = left + col + j % 4 + j / 4 * 64;
            if (y < M && x < N) C[(size_t)y * N + x] = c[i][j];
        }
}
