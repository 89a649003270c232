// Matrix product: C = A * B.
//
//   A    M x K floats, row after row:  A[row][k]    is  A[row * K + k]
//   B    K x N floats, row after row:  B[k][col]    is  B[k * N + col]
//   C    M x N floats, row after row:  C[row][col]  is  C[row * N + col]  =  sum over k of A[row][k] * B[k][col]
//
// Two kernels are below. The first one is the yardstick. The second one is yours: it starts as a copy of the first
// one, so it is already right, but its warps fetch every element of A N / 32 times from global memory, and every element
// of B M times. Let it go through tiles in shared memory. README.md of the exercise explains how.

#define TILE 32  // a block of TILE x TILE threads computes a tile of TILE x TILE elements of C

// The grader launches what this line says (several such lines run in order). It may use the names A, B, C, M, N and K,
// your own #defines, ceil_div, min, max and + - * / %. Change it whenever you change the kernel.
//
// launch: gemm_tiled<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)

// The yardstick. threadIdx.x walks along a row of C, so every access is coalesced, but for each product a warp fetches
// a row of 32 elements of B and one element of A from global memory: nothing is shared among the 32 warps of a block.
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

// Yours. The block needs TILE rows of A and TILE columns of B. Take them in steps of TILE along k:
//
//   for each step
//       each thread brings one element of A and one of B into two tiles in shared memory (0 where there is none)
//       wait until all threads have
//       each thread adds up the TILE products of its row of one tile with its column of the other
//       wait until all threads have, before the next step overwrites the tiles
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
