// Loads and stores whole fragments wherever they lie: beyond the edges, and rows that begin between boundaries.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// launch: gemm<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), 32>>>(A, B, C, M, N, K)
__global__ void gemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    int top = blockIdx.y * 16, left = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + (size_t)top * K + k, K);
        wmma::load_matrix_sync(b, B + (size_t)k * N + left, N);
        wmma::mma_sync(sums, a, b, sums);
    }
    wmma::store_matrix_sync(C + (size_t)top * N + left, sums, N, wmma::mem_row_major);
}
