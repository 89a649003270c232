// Four adjacent columns a thread with float4, where rows of B start at multiples of 16 bytes; else one float at a time.
// launch: vec4<<<dim3(ceil_div(N, 128), ceil_div(M, 4)), dim3(32, 4)>>>(A, B, C, M, N, K)
__device__ __forceinline__ void fma4(float4& c, float a, const float4& b)
{
    c.x += a * b.x;
    c.y += a * b.y;
    c.z += a * b.z;
    c.w += a * b.w;
}

__global__ void vec4(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    const int col = (blockIdx.x * 32 + threadIdx.x) * 4, row = blockIdx.y * 4 + threadIdx.y;
    if (row >= M || col >= N) return;
    if (N % 4 == 0) {
        float4 c = make_float4(0.f, 0.f, 0.f, 0.f);
        for (int k = 0; k < K; ++k) fma4(c, A[row * K + k], *reinterpret_cast<const float4*>(&B[k * N + col]));
        *reinterpret_cast<float4*>(&C[row * N + col]) = c;
        return;
    }
    for (int j = col; j < min(col + 4, N); ++j) {
        float c = 0.f;
        for (int k = 0; k < K; ++k) c += A[row * K + k] * B[k * N + j];
        C[row * N + j] = c;
    }
}
