// A product of half matrices by nvcuda::wmma, from global memory and through tiles in shared memory.
// in: a float16[4096] = normal
// in: b float16[4096] = normal
// out: y float32[4096]
// out: z float32[4096]
// launch: plain<<<dim3(4, 4), 32>>>(y, a, b, 64)
// launch: tiled<<<dim3(2, 2), 128>>>(z, a, b, 64)
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void plain(float* y, const half* a, const half* b, int n)
{
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, row_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    const int row = blockIdx.y * 16, column = blockIdx.x * 16;
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(left, a + row * n + k, n);
        load_matrix_sync(right, b + k * n + column, n);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(y + row * n + column, sum, n, mem_row_major);
}
__global__ void tiled(float* y, const half* a, const half* b, int n)
{
    __shared__ half left_tile[32][40], right_tile[32][40];
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, row_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    const int warp = threadIdx.x / 32, row = warp / 2 * 16, column = warp % 2 * 16;
    for (int first = 0; first < n; first += 32) {
        for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) {
            left_tile[i / 32][i % 32] = a[(blockIdx.y * 32 + i / 32) * n + first + i % 32];
            right_tile[i / 32][i % 32] = b[(first + i / 32) * n + blockIdx.x * 32 + i % 32];
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 16) {
            load_matrix_sync(left, &left_tile[row][k], 40);
            load_matrix_sync(right, &right_tile[k][column], 40);
            mma_sync(sum, left, right, sum);
        }
        __syncthreads();
    }
    store_matrix_sync(y + (blockIdx.y * 32 + row) * n + blockIdx.x * 32 + column, sum, n, mem_row_major);
}
