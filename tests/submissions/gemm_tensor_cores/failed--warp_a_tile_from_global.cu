// A warp a tile: fragments straight from global memory, and by way of shared memory only over the edges.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// launch: gemm<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), 32>>>(A, B, C, M, N, K)

__device__ half read_element(const half* matrix, int y, int x, int height, int width)
{
    return y < height && x < width ? matrix[(size_t)y * width + x] : __float2half(0.0f);
}

__global__ void gemm(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half of_a[16][16], of_b[16][16];
    __shared__ __align__(32) float of_c[16][16];
    int top = blockIdx.y * 16, left = blockIdx.x * 16;
    bool inside = top + 16 <= M && left + 16 <= N && K % 16 == 0 && N % 16 == 0;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int k = 0; k < K; k += 16) {
        if (inside) {
            wmma::load_matrix_sync(a, A + (size_t)top * K + k, K);
            wmma::load_matrix_sync(b, B + (size_t)k * N + left, N);
        } else {
            for (int i = threadIdx.x; i < 256; i += 32) {
                of_a[i / 16][i % 16] = read_element(A, top + i / 16, k + i % 16, M, K);
                of_b[i / 16][i % 16] = read_element(B, k + i / 16, left + i % 16, K, N);
            }
            __syncwarp();
            wmma::load_matrix_sync(a, &of_a[0][0], 16);
            wmma::load_matrix_sync(b, &of_b[0][0], 16);
            __syncwarp();
        }
        wmma::mma_sync(sums, a, b, sums);
    }
    if (inside) {
        wmma::store_matrix_sync(C + (size_t)top * N + left, sums, N, wmma::mem_row_major);
        return;
    }
    wmma::store_matrix_sync(&of_c[0][0], sums, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (top + i / 16 < M && left + i % 16 < N) C[(size_t)(top + i / 16) * N + left + i % 16] = of_c[i / 16][i % 16];
}
