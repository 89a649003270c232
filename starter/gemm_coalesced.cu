// Matrix product: C = A * B.
//
//   A    M x K floats, row after row:  A[row][k]    is  A[row * K + k]
//   B    K x N floats, row after row:  B[k][col]    is  B[k * N + col]
//   C    M x N floats, row after row:  C[row][col]  is  C[row * N + col]  =  sum over k of A[row][k] * B[k][col]
//
// Two kernels are below. The first one is the yardstick. The second one is yours: it starts as a copy of the first
// one, so it is already right, but it wastes most of what it moves. Mend it. README.md of the exercise explains how.

#define WIDTH 32   // threads of a block along x ...
#define HEIGHT 32  // ... and along y; each thread computes one element of C

// The grader launches what this line says (several such lines run in order). It may use the names A, B, C, M, N and K,
// your own #defines, ceil_div, min, max and + - * / %. Change it whenever you change the kernel: which of M and N the
// x of the grid has to cover depends on what threadIdx.x stands for.
//
// launch: gemm_coalesced<<<dim3(ceil_div(M, WIDTH), ceil_div(N, HEIGHT)), dim3(WIDTH, HEIGHT)>>>(A, B, C, M, N, K)

// The yardstick. threadIdx.x walks down a column of C, so the 32 threads of a warp read one column of A, whose elements
// lie 4 * K bytes apart, and write one column of C, 4 * N bytes apart: 32 sectors of 32 bytes, each for 4 bytes.
__global__ void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.x * WIDTH + threadIdx.x;
    int col = blockIdx.y * HEIGHT + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
        C[(size_t)row * N + col] = sum;
    }
}

// Yours. Which element of A, of B and of C do the 32 threads of a warp touch in one instruction? They differ in
// threadIdx.x. How should `row` and `col` depend on it, so that those elements are neighbours, or one and the same?
__global__ void gemm_coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.x * WIDTH + threadIdx.x;
    int col = blockIdx.y * HEIGHT + threadIdx.y;
    if (row < M && col < N) {  // at the ragged edges a block hangs over C
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
        C[(size_t)row * N + col] = sum;
    }
}
