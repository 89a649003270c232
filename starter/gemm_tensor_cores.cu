// Matrix product of halves on tensor cores: C = A * B, summed in float.
//
//   A    M x K halves, row after row:  A[row][k]    is  A[row * K + k]
//   B    K x N halves, row after row:  B[k][col]    is  B[k * N + col]
//   C    M x N floats, row after row:  C[row][col]  is  C[row * N + col]  =  sum over k of A[row][k] * B[k][col]
//
// The file has two kernels. The first is the baseline: it multiplies with the units for floats. The second is yours:
// each of its warps computes a tile of C on a tensor core. It is correct for any M, N and K, but it reads 512 elements
// for each product of tiles. README.md of the exercise explains how to load tiles fast enough for a tensor core.

#include <cuda_fp16.h>
#include <mma.h>

#define TILE 16  // wmma multiplies tiles of 16 x 16 by tiles of 16 x 16: 4,096 multiply-adds at once
#define SIDE 32  // threads of the baseline's blocks in either direction

// The grader launches the kernel by this line (several such lines run in order). It may use the names A, B, C, M, N and
// K, your own #defines, ceil_div, min, max and + - * / %. Change it if you change the kernel.
//
// launch: gemm_tensor_cores<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), 32>>>(A, B, C, M, N, K)

// The baseline: coalesced, each thread computes one element of C, no tensor core.
__global__ void gemm_naive(const half* A, const half* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * SIDE + threadIdx.y;
    int col = blockIdx.x * SIDE + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += __half2float(A[(size_t)row * K + k]) * __half2float(B[(size_t)k * N + col]);
        C[(size_t)row * N + col] = sum;
    }
}

// An element of `matrix` (height x width), 0 outside it: products with elements beyond the edge add nothing.
__device__ half read_element(const half* matrix, int y, int x, int height, int width)
{
    return y < height && x < width ? matrix[(size_t)y * width + x] : __float2half(0.0f);
}

// Yours. A fragment is a tile in the registers of a whole warp: all 32 lanes must execute each call, and only wmma
// knows which lane holds which element. So tiles that extend beyond an edge go through shared memory.
// Three questions:
//   - how many products of tiles does a warp make from a tile that it has loaded?
//   - how many warps use the elements that a warp loads from global memory?
//   - in which banks are the rows of a tile?
__global__ void gemm_tensor_cores(const half* A, const half* B, float* C, int M, int N, int K)
{
    using namespace nvcuda;
    __shared__ __align__(32) half a[TILE][TILE], b[TILE][TILE];
    __shared__ __align__(32) float c[TILE][TILE];
    int top = blockIdx.y * TILE, left = blockIdx.x * TILE;

    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int start = 0; start < K; start += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
            a[i / TILE][i % TILE] = read_element(A, top + i / TILE, start + i % TILE, M, K);
            b[i / TILE][i % TILE] = read_element(B, start + i / TILE, left + i % TILE, K, N);
        }
        __syncthreads();
        wmma::load_matrix_sync(of_a, &a[0][0], TILE);
        wmma::load_matrix_sync(of_b, &b[0][0], TILE);
        wmma::mma_sync(sums, of_a, of_b, sums);
        __syncthreads();
    }
    wmma::store_matrix_sync(&c[0][0], sums, TILE, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += 32)
        if (top + i / TILE < M && left + i % TILE < N) C[(size_t)(top + i / TILE) * N + (left + i % TILE)] = c[i / TILE][i % TILE];
}
