// Both tiles in one dynamic array, whose size is the third chevron argument and whose alignment lets ptxas read float4.
#define TILE 32
// launch: dynamic<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE), 2 * TILE * TILE * 4>>>(A, B, C, M, N, K)
extern __shared__ __align__(16) float memory[];

__global__ void dynamic(const float* A, const float* B, float* C, int M, int N, int K)
{
    float* a = memory;
    float* b = memory + TILE * TILE;
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < K; t += TILE) {
        a[ty * TILE + tx] = row < M && t + tx < K ? A[row * K + t + tx] : 0.0f;
        b[ty * TILE + tx] = col < N && t + ty < K ? B[(t + ty) * N + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TILE; ++k) sum += a[ty * TILE + k] * b[k * TILE + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
