// Matrix product: C = A * B.
//
//   A    M x K floats, row after row:  A[row][k]    is  A[row * K + k]
//   B    K x N floats, row after row:  B[k][col]    is  B[k * N + col]
//   C    M x N floats, row after row:  C[row][col]  is  C[row * N + col]  =  sum over k of A[row][k] * B[k][col]
//
// The file has three kernels. The first is the baseline. The second is the previous exercise, for comparison. The third
// is yours: each of its threads computes a patch of C from registers. It is correct, but it wastes most of the bytes
// that it moves, and its patch is small. Fix this, then make it fast. README.md of the exercise explains how.

#define TILE 32                 // a block computes a tile of TILE x TILE elements of C, in steps of TILE along k ...
#define PATCH 4                 // ... and each thread computes PATCH x PATCH of them
#define THREADS (TILE / PATCH)  // threads of a block in either direction

// The grader launches the kernel by this line (several such lines run in order). It may use the names A, B, C, M, N and
// K, your own #defines, ceil_div, min, max and + - * / %. Change it if you change the kernel.
//
// launch: gemm_register_blocked<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(THREADS, THREADS)>>>(A, B, C, M, N, K)

// The baseline: coalesced, but each product reads both its factors from global memory.
__global__ void gemm_coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
        C[(size_t)row * N + col] = sum;
    }
}

// An element of `matrix` (height x width), 0 outside it: products with elements beyond the edge add nothing.
__device__ float read_element(const float* matrix, int y, int x, int height, int width)
{
    return y < height && x < width ? matrix[(size_t)y * width + x] : 0.0f;
}

// The previous exercise: tiles in shared memory, each thread computes one element of C. Each product reads its factors
// from shared memory, and waits for them.
__global__ void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        a[y][x] = read_element(A, row, start + x, M, K);
        b[y][x] = read_element(B, start + y, col, K, N);
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row < M && col < N) C[(size_t)row * N + col] = sum;
}

// Yours. For each k a thread reads PATCH elements of a column of `a` and PATCH of a row of `b` into registers, and
// makes PATCH x PATCH products of them: a larger patch needs fewer reads per product. Three questions:
//   - which elements of A and of B do the 32 threads of a warp read in an instruction when they fill the tiles?
//   - which banks do they access when they write the tiles, and when they read them?
//   - how large a patch, how large a tile, and how many steps along k at a time?
__global__ void gemm_register_blocked(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x * PATCH, y = threadIdx.y * PATCH;  // this thread's patch begins here
    int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;

    float sums[PATCH][PATCH] = {};
    for (int start = 0; start < K; start += TILE) {
        for (int i = 0; i < PATCH; i++)
            for (int j = 0; j < PATCH; j++) {
                a[y + i][x + j] = read_element(A, row + i, start + x + j, M, K);
                b[y + i][x + j] = read_element(B, start + y + i, col + j, K, N);
            }
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float of_a[PATCH], of_b[PATCH];
            for (int i = 0; i < PATCH; i++) of_a[i] = a[y + i][k];
            for (int j = 0; j < PATCH; j++) of_b[j] = b[k][x + j];
            for (int i = 0; i < PATCH; i++)
                for (int j = 0; j < PATCH; j++) sums[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < PATCH; i++)
        for (int j = 0; j < PATCH; j++)
            if (row + i < M && col + j < N) C[(size_t)(row + i) * N + (col + j)] = sums[i][j];
}
