// Matrix product: C = A * B.
//
//   A    M x K floats, row after row:  A[row][k]    is  A[row * K + k]
//   B    K x N floats, row after row:  B[k][col]    is  B[k * N + col]
//   C    M x N floats, row after row:  C[row][col]  is  C[row * N + col]  =  sum over k of A[row][k] * B[k][col]
//
// The file has two kernels. The first is the baseline. The second is yours: it starts as a copy of the baseline. It is
// correct, but it wastes most of the bytes that it moves. Make it faster. README.md of the exercise explains how.

#define WIDTH 32   // threads of a block along x ...
#define HEIGHT 32  // ... and along y; each thread computes one element of C

// The grader launches the kernel by this line (several such lines run in order). It may use the names A, B, C, M, N and
// K, your own #defines, ceil_div, min, max and + - * / %. Change it if you change the kernel: the x of the grid must
// cover M if threadIdx.x is a row of C, and N if threadIdx.x is a column.
//
// launch: gemm_coalesced<<<dim3(ceil_div(M, WIDTH), ceil_div(N, HEIGHT)), dim3(WIDTH, HEIGHT)>>>(A, B, C, M, N, K)

// The baseline. threadIdx.x runs down a column of C, so the 32 threads of a warp read a column of A, whose elements lie
// 4 * K bytes apart, and write a column of C, 4 * N bytes apart: 32 sectors of 32 bytes, each for 4 bytes.
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

// Yours. Which elements of A, of B and of C do the 32 threads of a warp access in an instruction? They differ in
// threadIdx.x. How should `row` and `col` depend on it, so that those elements are neighbours, or the same element?
__global__ void gemm_coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.x * WIDTH + threadIdx.x;
    int col = blockIdx.y * HEIGHT + threadIdx.y;
    if (row < M && col < N) {  // at the edges a block extends beyond C
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
        C[(size_t)row * N + col] = sum;
    }
}
