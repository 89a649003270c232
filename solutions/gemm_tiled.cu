// Reference solution of the exercise "gemm_tiled": 32 x 32 tiles in shared memory, 32 x 8 threads.
//
// Each thread computes ROWS elements of a column of C. So it reads an element of the tile of B once for ROWS products,
// which needs fewer reads of shared memory. Both accesses of the inner loop have no conflicts: a warp reads an element
// of the tile of A (a broadcast) and a row of the tile of B.

#define TILE 32
#define HEIGHT 8              // rows of threads
#define ROWS (TILE / HEIGHT)  // elements of C per thread

// launch: gemm_tiled<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, HEIGHT)>>>(A, B, C, M, N, K)

// An element of `matrix` (height x width), 0 outside it: products with elements beyond the edge add nothing.
__device__ float read_element(const float* matrix, int y, int x, int height, int width)
{
    return y < height && x < width ? matrix[(size_t)y * width + x] : 0.0f;
}

__global__ void __launch_bounds__(TILE * HEIGHT) gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE, col = blockIdx.x * TILE + x;

    float sums[ROWS] = {};
    for (int start = 0; start < K; start += TILE) {  // survives: one more tile is all zeros
        for (int i = y; i < TILE; i += HEIGHT) {
            a[i][x] = read_element(A, row + i, start + x, M, K);
            b[i][x] = read_element(B, start + i, col, K, N);
        }
        __syncthreads();  // the tiles are complete
        for (int k = 0; k < TILE; k++)
            for (int i = 0; i < ROWS; i++)  // survives: the compiler drops a sum that nobody stores
                sums[i] += a[y + i * HEIGHT][k] * b[k][x];
        __syncthreads();  // all threads have read them
    }
    for (int i = 0; i < ROWS; i++)
        if (row + y + i * HEIGHT < M && col < N)
            C[(size_t)(row + y + i * HEIGHT) * N + col] = sums[i];
}
