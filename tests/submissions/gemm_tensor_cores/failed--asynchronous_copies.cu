// Reference solution of the exercise "gemm_tensor_cores": 128 x 128 elements of C a block, 64 x 64 a warp.
//
// A tensor core is fast enough that everything else must stay out of its way:
//
//   - A warp keeps 4 x 4 tiles of sums in registers. Of 4 tiles of A and 4 of B, which it loads from shared memory, it
//     makes 16 products: half a load for each, where the starter has two.
//   - What a block needs of A and of B comes STEP values of k at a time, as asynchronous copies that pass the registers
//     by. While the products of one step are made, the next one is on its way, and there is one barrier a step. Two
//     blocks of 128 threads share a multiprocessor: when one waits, the other multiplies.
//
// Banks. load_matrix_sync reads 8 rows of 16 bytes at a time. Rows of a multiple of 128 bytes would put them all in the
// same 4 banks; with 8 halves more a row, each begins 4 banks further on, and the 8 rows cover all 32. The copies write
// 8 times 16 bytes side by side in a row of either tile: all banks once.
//
// Where a row of A or of B does not begin on a 16-byte boundary, the block brings its elements one by one instead.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#define BLOCK_M 128  // rows ...
#define BLOCK_N 128  // ... and columns of C that a block computes
#define STEP 64      // values of k at a time
#define WARP_M 64    // rows ...
#define WARP_N 64    // ... and columns of C that a warp computes
#define STAGES 2     // steps whose tiles are in shared memory
#define TILE 16      // of a fragment
#define PAD 8        // halves behind each row
#define THREADS (BLOCK_M / WARP_M * (BLOCK_N / WARP_N) * 32)
#define STAGE_BYTES ((BLOCK_M * (STEP + PAD) + STEP * (BLOCK_N + PAD)) * 2)

// launch: gemm_tensor_cores<<<dim3(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)), THREADS, STAGES * STAGE_BYTES>>>(A, B, C, M, N, K)

using namespace nvcuda;

using FragmentA = wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;

struct Stage {
    half a[BLOCK_M][STEP + PAD];
    half b[STEP][BLOCK_N + PAD];
};

// Brings the HEIGHT x WIDTH elements of `matrix` (height x width) from (top, left) on into a tile, 0 where there are none.
// Aligned: each row begins on a 16-byte boundary, so that 8 elements are inside or outside together.
template <int HEIGHT, int WIDTH>
__device__ void bring(half (&tile)[HEIGHT][WIDTH + PAD], const half* matrix, int top, int left, int height, int width, bool aligned)
{
    if (aligned) {
        const int x = threadIdx.x % (WIDTH / 8) * 8, first = threadIdx.x / (WIDTH / 8);
        const half* from = &matrix[(size_t)(top + first) * width + (left + x)];
        #pragma unroll
        for (int y = first; y < HEIGHT; y += THREADS / (WIDTH / 8), from += (size_t)(THREADS / (WIDTH / 8)) * width)
            if (top + y < height && left + x < width)
                __pipeline_memcpy_async(&tile[y][x], from, 16);
            else
                *reinterpret_cast<uint4*>(&tile[y][x]) = make_uint4(0, 0, 0, 0);
    } else {
        for (int i = threadIdx.x; i < HEIGHT * WIDTH; i += THREADS) {
            const int y = i / WIDTH, x = i % WIDTH;
            const bool inside = top + y < height && left + x < width;
            tile[y][x] = inside ? matrix[(size_t)(top + y) * width + (left + x)] : __float2half(0.0f);
        }
    }
}

__device__ void multiply(Sums (&sums)[WARP_M / TILE][WARP_N / TILE], const Stage& stage, int row, int col)
{
    #pragma unroll
    for (int k = 0; k < STEP; k += TILE) {
        FragmentA a[WARP_M / TILE];
        FragmentB b[WARP_N / TILE];
        #pragma unroll
        for (int i = 0; i < WARP_M / TILE; i++) wmma::load_matrix_sync(a[i], &stage.a[row + i * TILE][k], STEP + PAD);
        #pragma unroll
        for (int j = 0; j < WARP_N / TILE; j++) wmma::load_matrix_sync(b[j], &stage.b[k][col + j * TILE], BLOCK_N + PAD);
        #pragma unroll
        for (int i = 0; i < WARP_M / TILE; i++)
            #pragma unroll
            for (int j = 0; j < WARP_N / TILE; j++) wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
    }
}

// A tile of C whose first element is (row, col); one that hangs over an edge goes through the warp's own `corner`.
__device__ void write_tile(float* C, float* corner, const Sums& sums, int row, int col, int M, int N)
{
    if (row + TILE <= M && col + TILE <= N && N % 8 == 0) {
        wmma::store_matrix_sync(&C[(size_t)row * N + col], sums, N, wmma::mem_row_major);
        return;
    }
    wmma::store_matrix_sync(corner, sums, TILE, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x % 32; i < TILE * TILE; i += 32)
        if (row + i / TILE < M && col + i % TILE < N) C[(size_t)(row + i / TILE) * N + (col + i % TILE)] = corner[i];
    __syncwarp();
}

__global__ void __launch_bounds__(THREADS)
gemm_tensor_cores(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(128) Stage stages[];
    const int top = blockIdx.y * BLOCK_M, left = blockIdx.x * BLOCK_N, warp = threadIdx.x / 32;
    const int row = warp / (BLOCK_N / WARP_N) * WARP_M, col = warp % (BLOCK_N / WARP_N) * WARP_N;

    auto bring_step = [&](Stage& stage, int start) {
        bring<BLOCK_M, STEP>(stage.a, A, top, start, M, K, K % 8 == 0);
        bring<STEP, BLOCK_N>(stage.b, B, start, left, K, N, N % 8 == 0);
    };

    Sums sums[WARP_M / TILE][WARP_N / TILE];
    for (auto& line : sums)
        for (auto& tile : line) wmma::fill_fragment(tile, 0.0f);

    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage * STEP < K) bring_step(stages[stage], stage * STEP);
        __pipeline_commit();
    }
    int current = 0;
    for (int start = 0; start < K; start += STEP) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // everybody's part of this step has come, and everybody has done with the step before
        const int ahead = start + (STAGES - 1) * STEP;
        if (ahead < K) bring_step(stages[(current + STAGES - 1) % STAGES], ahead);
        __pipeline_commit();
        multiply(sums, stages[current], row, col);
        current = (current + 1) % STAGES;
    }

    __syncthreads();
    float* corner = reinterpret_cast<float*>(stages) + warp * TILE * TILE;
    #pragma unroll
    for (int i = 0; i < WARP_M / TILE; i++)
        #pragma unroll
        for (int j = 0; j < WARP_N / TILE; j++)
            write_tile(C, corner, sums[i][j], top + row + i * TILE, left + col + j * TILE, M, N);
}
