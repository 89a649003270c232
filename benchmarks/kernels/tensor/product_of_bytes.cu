// A product of 8-bit integers on tensor cores; a warp computes 32 by 32 elements and loads what it
// multiplies from global memory, B by columns. The factors follow each other in one array.
// run: --size n=1024 --input AB=small_integers:2*n,n:int8 --output C=int32:n,n
// run: --size n=4096 --input AB=small_integers:2*n,n:int8 --output C=int32:n,n
// launch: product_of_bytes<<<dim3(n / 64, n / 64), 128>>>(C, AB, n)

#include <mma.h>

using namespace nvcuda::wmma;

__global__ void product_of_bytes(int* C, const signed char* A, int n)
{
    const signed char* B = A + (size_t)n * n;
    const int warp = threadIdx.x / 32;
    const size_t row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    fragment<matrix_a, 16, 16, 16, signed char, row_major> a[2];
    fragment<matrix_b, 16, 16, 16, signed char, col_major> b[2];
    fragment<accumulator, 16, 16, 16, int> c[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(c[i / 2][i % 2], 0);
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(a[i], A + (row + i * 16) * n + k, n);
            load_matrix_sync(b[i], B + (column + i * 16) * n + k, n);
        }
        for (int i = 0; i < 4; i++)
            mma_sync(c[i / 2][i % 2], a[i / 2], b[i % 2], c[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(C + (row + i / 2 * 16) * n + column + i % 2 * 16, c[i / 2][i % 2], n,
                          mem_row_major);
}
