// 128 x 128 elements of C a block of eight warps, 64 x 32 a warp; the next tiles wait in registers.
#include <cuda_fp16.h>
#include <mma.h>

#define BLOCK_M 128  // rows ...
#define BLOCK_N 128  // ... and columns of C that a block computes
#define STEP 64      // values of k at a time
#define WARP_M 64    // rows ...
#define WARP_N 32    // ... and columns of C that a warp computes
#define TILE 16      // of a fragment
#define PAD 8        // halves behind each row
#define THREADS (BLOCK_M / WARP_M * (BLOCK_N / WARP_N) * 32)
#define TILES_BYTES ((BLOCK_M * (STEP + PAD) + STEP * (BLOCK_N + PAD)) * 2)

// launch: gemm_tensor_cores<<<dim3(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)), THREADS, 2 * TILES_BYTES>>>(A, B, C, M, N, K)

using namespace nvcuda;

using FragmentA = wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float>;

struct Tiles {
    half a[BLOCK_M][STEP + PAD];
    half b[STEP][BLOCK_N + PAD];
};

// 8 neighbours of a row of `matrix` (height x width), 0 outside it. Aligned: each row begins on a 16-byte boundary, so that
// the 8 are inside or outside together.
__device__ uint4 read_eight(const half* matrix, int y, int x, int height, int width, bool aligned)
{
    uint4 eight = make_uint4(0, 0, 0, 0);
    if (y >= height) return eight;
    const half* from = &matrix[(size_t)y * width + x];
    if (aligned) {
        if (x < width) eight = *reinterpret_cast<const uint4*>(from);
        return eight;
    }
    half* halves = reinterpret_cast<half*>(&eight);
    #pragma unroll
    for (int i = 0; i < 8; i++)
        if (x + i < width) halves[i] = from[i];
    return eight;
}

// A thread's part of a tile of HEIGHT x WIDTH halves, on its way through registers: neighbours bring what lies side by side.
template <int HEIGHT, int WIDTH>
struct Load {
    static constexpr int ROW = WIDTH / 8, EACH = HEIGHT * ROW / THREADS, APART = THREADS / ROW;
    uint4 eights[EACH];

    // Where the whole tile lies inside: `from` points to the thread's first element.
    __device__ void bring_inside(const half* from, int width)
    {
        #pragma unroll
        for (int i = 0; i < EACH; i++) eights[i] = *reinterpret_cast<const uint4*>(from + (size_t)i * APART * width);
    }

    // Anywhere, with 0 outside of the matrix.
    __device__ void bring_edge(const half* matrix, int top, int left, int height, int width)
    {
        #pragma unroll
        for (int i = 0; i < EACH; i++)
            eights[i] = read_eight(matrix, top + threadIdx.x / ROW + i * APART, left + threadIdx.x % ROW * 8, height, width, width % 8 == 0);
    }

    __device__ void store(half (&tile)[HEIGHT][WIDTH + PAD]) const
    {
        #pragma unroll
        for (int i = 0; i < EACH; i++)
            *reinterpret_cast<uint4*>(&tile[threadIdx.x / ROW + i * APART][threadIdx.x % ROW * 8]) = eights[i];
    }
};

using LoadA = Load<BLOCK_M, STEP>;
using LoadB = Load<STEP, BLOCK_N>;

__device__ void multiply(Sums (&sums)[WARP_M / TILE][WARP_N / TILE], const Tiles& tiles, int row, int col)
{
    #pragma unroll
    for (int k = 0; k < STEP; k += TILE) {
        FragmentA a[WARP_M / TILE];
        FragmentB b[WARP_N / TILE];
        #pragma unroll
        for (int i = 0; i < WARP_M / TILE; i++) wmma::load_matrix_sync(a[i], &tiles.a[row + i * TILE][k], STEP + PAD);
        #pragma unroll
        for (int j = 0; j < WARP_N / TILE; j++) wmma::load_matrix_sync(b[j], &tiles.b[k][col + j * TILE], BLOCK_N + PAD);
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
    extern __shared__ __align__(128) Tiles tiles[];
    const int top = blockIdx.y * BLOCK_M, left = blockIdx.x * BLOCK_N, warp = threadIdx.x / 32;
    const int row = warp / (BLOCK_N / WARP_N) * WARP_M, col = warp % (BLOCK_N / WARP_N) * WARP_N;

    Sums sums[WARP_M / TILE][WARP_N / TILE];
    for (auto& line : sums)
        for (auto& tile : line) wmma::fill_fragment(tile, 0.0f);

    LoadA of_a;
    LoadB of_b;
    const bool inside = top + BLOCK_M <= M && left + BLOCK_N <= N && K % STEP == 0 && N % 8 == 0;
    const half* a = A + (size_t)(top + threadIdx.x / LoadA::ROW) * K + threadIdx.x % LoadA::ROW * 8;
    const half* b = B + (size_t)(threadIdx.x / LoadB::ROW) * N + left + threadIdx.x % LoadB::ROW * 8;
    auto bring = [&](int start) {
        if (inside) {
            of_a.bring_inside(a + start, K);
            of_b.bring_inside(b + (size_t)start * N, N);
        } else {
            of_a.bring_edge(A, top, start, M, K);
            of_b.bring_edge(B, start, left, K, N);
        }
    };

    bring(0);
    of_a.store(tiles[0].a);
    of_b.store(tiles[0].b);
    __syncthreads();

    int current = 0;  // which pair of tiles the products are made from
    for (int start = 0; start < K; start += STEP) {
        const bool more = start + STEP < K;
        if (more) bring(start + STEP);
        multiply(sums, tiles[current], row, col);
        current ^= 1;
        if (more) {
            of_a.store(tiles[current].a);
            of_b.store(tiles[current].b);
        }
        __syncthreads();
    }

    float* corner = reinterpret_cast<float*>(tiles) + warp * TILE * TILE;
    #pragma unroll
    for (int i = 0; i < WARP_M / TILE; i++)
        #pragma unroll
        for (int j = 0; j < WARP_N / TILE; j++)
            write_tile(C, corner, sums[i][j], top + row + i * TILE, left + col + j * TILE, M, N);
}
