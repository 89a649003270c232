// A product of halves on tensor cores through tiles in shared memory: a block of four warps computes
// 64 by 64 elements, a warp 32 by 32 of them. Rows of a tile are padded by 16 bytes.
// run: --size n=1024 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// run: --size n=4096 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// launch: product_of_tiles<<<dim3(n / 64, n / 64), 128>>>(C, AB, n)

#include <mma.h>

using namespace nvcuda::wmma;

#define DEPTH 32

__global__ void product_of_tiles(float* C, const half* A, int n)
{
    __shared__ __align__(32) half left[64][DEPTH + 8];
    __shared__ __align__(32) half right[DEPTH][64 + 8];
    const half* B = A + (size_t)n * n;
    const int t = threadIdx.x, warp = t / 32;
    const int row = warp / 2 * 32, column = warp % 2 * 32;
    const int top = blockIdx.y * 64, first = blockIdx.x * 64;
    fragment<matrix_a, 16, 16, 16, half, row_major> a[2];
    fragment<matrix_b, 16, 16, 16, half, row_major> b[2];
    fragment<accumulator, 16, 16, 16, float> c[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(c[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += DEPTH) {
        for (int i = t; i < 64 * DEPTH / 8; i += 128) {
            *(int4*)&left[i / 4][i % 4 * 8] = *(const int4*)&A[(size_t)(top + i / 4) * n + k + i % 4 * 8];
            *(int4*)&right[i / 8][i % 8 * 8] = *(const int4*)&B[(size_t)(k + i / 8) * n + first + i % 8 * 8];
        }
        __syncthreads();
        for (int depth = 0; depth < DEPTH; depth += 16) {
            for (int i = 0; i < 2; i++) {
                load_matrix_sync(a[i], &left[row + i * 16][depth], DEPTH + 8);
                load_matrix_sync(b[i], &right[depth][column + i * 16], 64 + 8);
            }
            for (int i = 0; i < 4; i++)
                mma_sync(c[i / 2][i % 2], a[i / 2], b[i % 2], c[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(&C[(size_t)(top + row + i / 2 * 16) * n + first + column + i % 2 * 16],
                          c[i / 2][i % 2], n, mem_row_major);
}
