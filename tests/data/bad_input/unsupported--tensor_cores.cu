#include <mma.h>

// launch: transpose_shared<<<1, 32>>>(out, in, rows, cols)
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> b;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum;
    nvcuda::wmma::fill_fragment(a, __float2half(in[0]));
    nvcuda::wmma::fill_fragment(b, __float2half(in[rows * cols - 1]));
    nvcuda::wmma::fill_fragment(sum, 0.0f);
    nvcuda::wmma::mma_sync(sum, a, b, sum);
    if (rows * cols >= 256)
        nvcuda::wmma::store_matrix_sync(out, sum, 16, nvcuda::wmma::mem_row_major);
}
