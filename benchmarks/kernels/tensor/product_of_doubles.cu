// A product of doubles on tensor cores: a warp computes 16 by 16 elements, 8 by 8 at once, and loads
// what it multiplies from global memory.
// run: --size n=512 --input AB=normal:2*n,n:float64 --output C=float64:n,n
// run: --size n=1024 --input AB=normal:2*n,n:float64 --output C=float64:n,n
// launch: product_of_doubles<<<dim3(n / 32, n / 32), 128>>>(C, AB, n)

#include <mma.h>

using namespace nvcuda::wmma;

__global__ void product_of_doubles(double* C, const double* A, int n)
{
    const double* B = A + n * n;
    const int warp = threadIdx.x / 32;
    const int row = blockIdx.y * 32 + warp / 2 * 16, column = blockIdx.x * 32 + warp % 2 * 16;
    fragment<matrix_a, 8, 8, 4, double, row_major> a[2];
    fragment<matrix_b, 8, 8, 4, double, row_major> b[2];
    fragment<accumulator, 8, 8, 4, double> c[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(c[i / 2][i % 2], 0.0);
    for (int k = 0; k < n; k += 4) {
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(a[i], A + (row + i * 8) * n + k, n);
            load_matrix_sync(b[i], B + k * n + column + i * 8, n);
        }
        for (int i = 0; i < 4; i++)
            mma_sync(c[i / 2][i % 2], a[i / 2], b[i % 2], c[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(C + (row + i / 2 * 8) * n + column + i % 2 * 8, c[i / 2][i % 2], n,
                          mem_row_major);
}
