// cooperative_groups: block.sync() in place of __syncthreads(), and its thread_index().
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define TILE 32
// launch: gemm_cg<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE, TILE)>>>(A, B, C, M, N, K)
__global__ void gemm_cg(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    cg::thread_block block = cg::this_thread_block();
    const unsigned x = block.thread_index().x, y = block.thread_index().y;
    const unsigned row = block.group_index().y * TILE + y, col = block.group_index().x * TILE + x;
    float sum = 0.0f;
    for (unsigned t = 0; t < K; t += TILE) {
        a[y][x] = row < M && t + x < K ? A[row * K + t + x] : 0.0f;
        b[y][x] = col < N && t + y < K ? B[(t + y) * N + col] : 0.0f;
        block.sync();
        for (unsigned k = 0; k < TILE; ++k) sum += a[y][k] * b[k][x];
        block.sync();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
