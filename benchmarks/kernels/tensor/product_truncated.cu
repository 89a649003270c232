// A product of floats on tensor cores, which are cut to TF32 in registers: a block of four warps
// computes 64 by 64 elements through tiles in shared memory.
// run: --size n=1024 --input AB=normal:2*n,n --output C=float32:n,n
// run: --size n=2048 --input AB=normal:2*n,n --output C=float32:n,n
// launch: product_truncated<<<dim3(n / 64, n / 64), 128>>>(C, AB, n)

#include <mma.h>

using namespace nvcuda::wmma;

#define DEPTH 16

__global__ void product_truncated(float* C, const float* A, int n)
{
    __shared__ __align__(32) float left[64][DEPTH + 4], right[DEPTH][64 + 4];
    const float* B = A + n * n;
    const int t = threadIdx.x, warp = t / 32;
    const int row = warp / 2 * 32, column = warp % 2 * 32;
    const int top = blockIdx.y * 64, first = blockIdx.x * 64;
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> a[2];
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> b[2];
    fragment<accumulator, 16, 16, 8, float> c[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(c[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += DEPTH) {
        for (int i = t; i < 64 * DEPTH / 4; i += 128) {
            *(float4*)&left[i / 4][i % 4 * 4] = *(const float4*)&A[(top + i / 4) * n + k + i % 4 * 4];
            *(float4*)&right[i / 16][i % 16 * 4] = *(const float4*)&B[(k + i / 16) * n + first + i % 16 * 4];
        }
        __syncthreads();
        for (int depth = 0; depth < DEPTH; depth += 8) {
            for (int i = 0; i < 2; i++) {
                load_matrix_sync(a[i], &left[row + i * 16][depth], DEPTH + 4);
                load_matrix_sync(b[i], &right[depth][column + i * 16], 64 + 4);
                for (int e = 0; e < a[i].num_elements; e++)
                    a[i].x[e] = __float_to_tf32(a[i].x[e]);
                for (int e = 0; e < b[i].num_elements; e++)
                    b[i].x[e] = __float_to_tf32(b[i].x[e]);
            }
            for (int i = 0; i < 4; i++)
                mma_sync(c[i / 2][i % 2], a[i / 2], b[i % 2], c[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(&C[(top + row + i / 2 * 16) * n + first + column + i % 2 * 16],
                          c[i / 2][i % 2], n, mem_row_major);
}
