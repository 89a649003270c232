// 16 x 16 x 8 products on tensor cores (wmma): one warp a block, inputs rounded to tf32.
#include <mma.h>
using namespace nvcuda;
// launch: gemm_wmma<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), 32>>>(A, B, C, M, N, K)
__global__ void gemm_wmma(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float a[16][8], b[8][16], c[16][16];
    const int top = blockIdx.y * 16, left = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int t = 0; t < K; t += 8) {
        for (int i = threadIdx.x; i < 128; i += 32) {
            a[i / 8][i % 8] = wmma::__float_to_tf32(top + i / 8 < M && t + i % 8 < K ? A[(top + i / 8) * K + t + i % 8] : 0.f);
            b[i / 16][i % 16] = wmma::__float_to_tf32(t + i / 16 < K && left + i % 16 < N ? B[(t + i / 16) * N + left + i % 16] : 0.f);
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, &a[0][0], 8);
        wmma::load_matrix_sync(fb, &b[0][0], 16);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncwarp();
    }
    wmma::store_matrix_sync(&c[0][0], fc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (top + i / 16 < M && left + i % 16 < N) C[(top + i / 16) * N + left + i % 16] = c[i / 16][i % 16];
}
