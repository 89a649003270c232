// launch: multiply<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K)
constexpr int W = 16;

__device__ inline float at(const float* m, int r, int c, int rows, int cols)
{
    return (r < rows && c < cols) ? m[r * cols + c] : 0.f;
}

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float left[W * W];
    __shared__ float right[W * W];
    const int me = threadIdx.y * W + threadIdx.x;
    const int i = blockIdx.y * W + threadIdx.y;
    const int j = blockIdx.x * W + threadIdx.x;
    float acc = 0.f;
    for (int p = 0; p < k; p += W) {
        left[me] = at(a, i, p + threadIdx.x, m, k);
        right[me] = at(b, p + threadIdx.y, j, k, n);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < W; q++) {
            acc += left[threadIdx.y * W + q] * right[q * W + threadIdx.x];
        }
        __syncthreads();
    }
    if (i >= m || j >= n) return;
    c[i * n + j] = acc;
}
