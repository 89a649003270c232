// Tiles of 64 x 64 that four warps share, brought element by element.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define BLOCK 64
#define STEP 64
#define WARP_M 32
#define WARP_N 32
#define PAD 8
#define THREADS (BLOCK / WARP_M * (BLOCK / WARP_N) * 32)
// launch: gemm<<<dim3(ceil_div(N, BLOCK), ceil_div(M, BLOCK)), THREADS>>>(A, B, C, M, N, K)

__device__ half read_element(const half* matrix, int y, int x, int height, int width)
{
    return y < height && x < width ? matrix[(size_t)y * width + x] : __float2half(0.0f);
}

// Brings HEIGHT x WIDTH elements from (top, left) on, 0 where there are none.
template <int HEIGHT, int WIDTH>
__device__ void bring(half (&tile)[HEIGHT][WIDTH + PAD], const half* matrix, int top, int left, int height, int width)
{
    for (int i = threadIdx.x; i < HEIGHT * WIDTH; i += THREADS)
        tile[i / WIDTH][i % WIDTH] = read_element(matrix, top + i / WIDTH, left + i % WIDTH, height, width);
}

__global__ void __launch_bounds__(THREADS) gemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half a[BLOCK][STEP + PAD], b[STEP][BLOCK + PAD];
    __shared__ __align__(32) float corner[THREADS / 32][16][16];
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, warp = threadIdx.x / 32;
    int row = warp / (BLOCK / WARP_N) * WARP_M, col = warp % (BLOCK / WARP_N) * WARP_N;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[WARP_M / 16][WARP_N / 16];
    for (int i = 0; i < WARP_M / 16; i++)
        for (int j = 0; j < WARP_N / 16; j++) wmma::fill_fragment(sums[i][j], 0.0f);
    for (int start = 0; start < K; start += STEP) {
        bring<BLOCK, STEP>(a, A, top, start, M, K);
        bring<STEP, BLOCK>(b, B, start, left, K, N);
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < STEP; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[WARP_M / 16];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[WARP_N / 16];
            for (int i = 0; i < WARP_M / 16; i++) wmma::load_matrix_sync(of_a[i], &a[row + 16 * i][k], STEP + PAD);
            for (int j = 0; j < WARP_N / 16; j++) wmma::load_matrix_sync(of_b[j], &b[k][col + 16 * j], BLOCK + PAD);
            for (int i = 0; i < WARP_M / 16; i++)
                for (int j = 0; j < WARP_N / 16; j++) wmma::mma_sync(sums[i][j], of_a[i], of_b[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < WARP_M / 16; i++)
        for (int j = 0; j < WARP_N / 16; j++) {
            int y = top + row + 16 * i, x = left + col + 16 * j;
            wmma::store_matrix_sync(&corner[warp][0][0], sums[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int e = threadIdx.x % 32; e < 256; e += 32)
                if (y + e / 16 < M && x + e % 16 < N) C[(size_t)(y + e / 16) * N + x + e % 16] = corner[warp][e / 16][e % 16];
            __syncwarp();
        }
}
