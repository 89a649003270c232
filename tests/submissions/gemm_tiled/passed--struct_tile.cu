// The tile is a struct with methods, loaded through a matrix view.
#define SIZE 32
// launch: gemm<<<dim3(ceil_div(N, SIZE), ceil_div(M, SIZE)), dim3(SIZE, SIZE)>>>(A, B, C, M, N, K)
struct View {
    const float* data;
    int rows, cols;
    __device__ float at(int r, int c) const { return r < rows && c < cols ? data[r * cols + c] : 0.0f; }
};

struct __align__(16) Tile {
    float element[SIZE][SIZE];
    __device__ void load(const View& from, int r, int c)
    {
        element[threadIdx.y][threadIdx.x] = from.at(r * SIZE + threadIdx.y, c * SIZE + threadIdx.x);
    }
    __device__ float operator()(int r, int c) const { return element[r][c]; }
};

__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ Tile a, b;
    const View of_a{A, M, K}, of_b{B, K, N};
    float sum = 0.0f;
    for (int t = 0; t * SIZE < K; ++t) {
        a.load(of_a, blockIdx.y, t);
        b.load(of_b, t, blockIdx.x);
        __syncthreads();
        for (int k = 0; k < SIZE; ++k) sum += a(threadIdx.y, k) * b(k, threadIdx.x);
        __syncthreads();
    }
    const int row = blockIdx.y * SIZE + threadIdx.y, col = blockIdx.x * SIZE + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = sum;
}
