// constexpr sizes and functions, __launch_bounds__ with two arguments, enum for the tile. Full marks expected on a GPU.
enum Shape : int { Side = 32, Height = 8 };
constexpr int square(int n) { return n * n; }
constexpr int kThreads = Side * Height;
constexpr int kPerThread = square(Side) / kThreads;

// launch: bounded<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void __launch_bounds__(kThreads, 8) bounded(float* __restrict__ out, const float* __restrict__ in, int rows, int cols)
{
    static_assert(kPerThread == 4);
    __shared__ float tile[Side][Side + 1];
    #pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
        if constexpr (kPerThread > 1) {
            int row = blockIdx.y * Side + threadIdx.y + i * Height, col = blockIdx.x * Side + threadIdx.x;
            if (row < rows && col < cols) tile[threadIdx.y + i * Height][threadIdx.x] = in[size_t(row) * cols + col];
        }
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
        int row = blockIdx.x * Side + threadIdx.y + i * Height, col = blockIdx.y * Side + threadIdx.x;
        if (row < cols && col < rows) out[size_t(row) * rows + col] = tile[threadIdx.x][threadIdx.y + i * Height];
    }
}
