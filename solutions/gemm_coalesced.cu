// Reference solution of the exercise "gemm_coalesced": threadIdx.x runs along a row of C.
//
// In an instruction, the 32 threads of a warp read 32 neighbours of a row of B (4 sectors, fully used) and the same
// element of A (1 sector for 4 bytes): 132 of 160 bytes are used. They write 32 neighbours of a row of C.

#define WIDTH 32   // a warp is one row of a block
#define HEIGHT 32

// launch: gemm_coalesced<<<dim3(ceil_div(N, WIDTH), ceil_div(M, HEIGHT)), dim3(WIDTH, HEIGHT)>>>(A, B, C, M, N, K)

__global__ void gemm_coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * HEIGHT + threadIdx.y;
    int col = blockIdx.x * WIDTH + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[(size_t)row * K + k] * B[(size_t)k * N + col];
        C[(size_t)row * N + col] = sum;
    }
}
