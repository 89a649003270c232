// A product of halves on tensor cores as in a first lesson: a warp computes 16 by 16 elements
// and loads its factors from global memory. The factors follow each other in one array.
// run: --size n=512 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// run: --size n=2048 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// launch: product_of_warps<<<dim3(n / 64, n / 16), 128>>>(C, AB, n)

#include <mma.h>

using namespace nvcuda::wmma;

__global__ void product_of_warps(float* C, const half* A, int n)
{
    const half* B = A + n * n;
    const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    fill_fragment(c, 0.0f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(a, A + row * n + k, n);
        load_matrix_sync(b, B + k * n + column, n);
        mma_sync(c, a, b, c);
    }
    store_matrix_sync(C + row * n + column, c, n, mem_row_major);
}
