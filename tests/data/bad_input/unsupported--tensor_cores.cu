#include <mma.h>

// launch: transpose_shared<<<1, 32>>>(out, in, rows, cols)
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> a;
    fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> b;
    fragment<accumulator, 8, 8, 128, int> sum;
    load_matrix_sync(a, in, 128);
    load_matrix_sync(b, in, 128);
    fill_fragment(sum, 0);
    bmma_sync(sum, a, b, sum);
    if (rows * cols >= 256)
        store_matrix_sync((int*)out, sum, 8, mem_row_major);
}
