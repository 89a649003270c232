// Matrix product: C = A * B.
//
//   A    M x K floats, row after row:  A[row][k]    is  A[row * K + k]
//   B    K x N floats, row after row:  B[k][col]    is  B[k * N + col]
//   C    M x N floats, row after row:  C[row][col]  is  C[row * N + col]  =  sum over k of A[row][k] * B[k][col]
//
// The file has two kernels. The first is the baseline. The second is yours: it starts as a copy of the baseline. It is
// correct, but its warps read each element of A N / 32 times from global memory, and each element of B M times. Use
// tiles in shared memory instead. README.md of the exercise explains how.

#define TILE 32  // a block of TILE x TILE threads computes a tile of TILE x TILE elements of C

// The grader launches the kernel by this line (several such lines run in order). It may use the names A, B, C, M, N and
// K, your own #defines, ceil_div, min, max and + - * / %. Change it if you change the kernel.
//
// launch: gemm_tiled<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)

// The baseline. threadIdx.x runs along a row of C, so each access is coalesced. But for each product a warp reads a row
// of 32 elements of B and an element of A from global memory: the 32 warps of a block share no values.
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

// Yours. The block needs TILE rows of A and TILE columns of B. Load them in steps of TILE along k:
//
//   for each step
//       each thread loads an element of A and an element of B into two tiles in shared memory (0 outside the matrix)
//       wait until all threads have loaded
//       each thread adds up the TILE products of its row of one tile with its column of the other
//       wait until all threads have added, before the next step overwrites the tiles
__global__ void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K)
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
