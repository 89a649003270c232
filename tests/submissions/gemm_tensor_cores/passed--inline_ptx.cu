// ldmatrix and mma.sync in inline PTX: 128 x 128 elements of C a block, 64 x 64 a warp.
#include <cuda_fp16.h>

#define BLOCK_M 128  // rows ...
#define BLOCK_N 128  // ... and columns of C that a block computes
#define STEP 64      // values of k at a time
#define WARP_M 64    // rows ...
#define WARP_N 64    // ... and columns of C that a warp computes
#define PAD 8        // halves behind each row
#define THREADS (BLOCK_M / WARP_M * (BLOCK_N / WARP_N) * 32)
#define TILES_BYTES ((BLOCK_M * (STEP + PAD) + STEP * (BLOCK_N + PAD)) * 2)

// launch: gemm_tensor_cores<<<dim3(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)), THREADS, 2 * TILES_BYTES>>>(A, B, C, M, N, K)

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

struct Sums {
    float of[WARP_M / 16][WARP_N / 8][4];
};

__device__ void load_four(unsigned (&of)[4], const half* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(of[0]), "=r"(of[1]), "=r"(of[2]), "=r"(of[3]) : "r"((unsigned)__cvta_generic_to_shared(row)));
}

__device__ void load_four_turned(unsigned (&of)[4], const half* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(of[0]), "=r"(of[1]), "=r"(of[2]), "=r"(of[3]) : "r"((unsigned)__cvta_generic_to_shared(row)));
}

__device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ void multiply(Sums& sums, const Tiles& tiles, int row, int col)
{
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int k = 0; k < STEP; k += 16) {
        unsigned a[WARP_M / 16][4];
        #pragma unroll
        for (int i = 0; i < WARP_M / 16; i++) load_four(a[i], &tiles.a[row + 16 * i + lane % 16][k + lane / 16 * 8]);
        #pragma unroll
        for (int j = 0; j < WARP_N / 16; j++) {
            unsigned b[4];
            load_four_turned(b, &tiles.b[k + lane % 16][col + 16 * j + lane / 16 * 8]);
            #pragma unroll
            for (int i = 0; i < WARP_M / 16; i++) {
                multiply_add(sums.of[i][2 * j], a[i], b[0], b[1]);
                multiply_add(sums.of[i][2 * j + 1], a[i], b[2], b[3]);
            }
        }
    }
}

__device__ void write_pair(float* C, int row, int col, float first, float second, int M, int N)
{
    if (row >= M) return;
    float* to = &C[(size_t)row * N + col];
    if (N % 2 == 0 && col < N) {
        *reinterpret_cast<float2*>(to) = make_float2(first, second);
    } else {
        if (col < N) to[0] = first;
        if (col + 1 < N) to[1] = second;
    }
}

__global__ void __launch_bounds__(THREADS)
gemm_tensor_cores(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(128) Tiles tiles[];
    const int top = blockIdx.y * BLOCK_M, left = blockIdx.x * BLOCK_N, warp = threadIdx.x / 32;
    const int row = warp / (BLOCK_N / WARP_N) * WARP_M, col = warp % (BLOCK_N / WARP_N) * WARP_N;

    Sums sums = {};

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

    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int i = 0; i < WARP_M / 16; i++)
        #pragma unroll
        for (int j = 0; j < WARP_N / 8; j++) {
            const int y = top + row + 16 * i + lane / 4, x = left + col + 8 * j + lane % 4 * 2;
            write_pair(C, y, x, sums.of[i][j][0], sums.of[i][j][1], M, N);
            write_pair(C, y + 8, x, sums.of[i][j][2], sums.of[i][j][3], M, N);
        }
}
