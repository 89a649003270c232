// Reference solution of the exercise "gemm_register_blocked": 128 x 128 elements of C per block, 8 x 16 per thread.
//
// Each instruction other than a multiply-add keeps a matrix product from the peak, so the kernel has few of them:
//
//   - For each k, a thread reads 8 + 16 floats of the tiles as 6 float4, and makes 128 products of them in registers.
//   - There are two pairs of tiles. While threads compute the products of a pair, they load the next pair from global
//     memory into registers, and store it to shared memory at the end: one barrier per step. In the same way, they read
//     the factors of k + 1 while they compute the products of k.
//   - The kernel checks once per step, for the whole block, if the block extends beyond an edge.
//
// Banks. The tile of A is transposed in shared memory, so that a thread's factors of a k are adjacent. Two neighbouring
// threads load 8 values of a row of A, 4 each. So for each of the 4 values, a warp stores 16 rows of 2 values of k that
// are 4 apart. Rows of BLOCK_M + 4 floats put these into different halves of the banks: 4 * 132 % 32 = 16. For the
// reads, 8 lanes of a warp differ in the rows and 4 in the columns of their patches. The lanes are arranged so that the
// 16 lanes of a half-warp read 8 float4 of A (lanes t and t ^ 1 the same), or 2 of B (lanes t and t ^ 2 the same). Such
// a half-warp takes one wavefront; 16 lanes in another order take two.

#define BLOCK_M 128  // rows ...
#define BLOCK_N 128  // ... and columns of C that a block computes
#define STEP 8       // values of k at a time
#define WARP_M 64    // rows ...
#define WARP_N 64    // ... and columns of C that a warp computes
#define ROWS 8       // rows ...
#define COLS 16      // ... and columns of C that a thread computes, in patches of 4 x 4
#define THREADS 128  // 2 x 2 warps

// launch: gemm_register_blocked<<<dim3(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)), THREADS>>>(A, B, C, M, N, K)

#define ROW_STRIDE (4 * 8)                         // from one patch of a thread to the next: 8 threads of 4 rows each,
#define COL_STRIDE (4 * 4)                         // 4 threads of 4 columns each
#define A_LOADS (BLOCK_M * STEP / 4 / THREADS)     // float4 that a thread loads per step
#define B_LOADS (BLOCK_N * STEP / 4 / THREADS)
#define A_ROWS (THREADS / 2)                       // rows of A between two of its float4: 2 threads load 8 floats of a row
#define B_QUADS (THREADS / STEP)                   // float4 of B between two of its own, all of which are in one row

struct Tiles {
    float a[STEP][BLOCK_M + 4];
    float b[STEP][BLOCK_N];
};

// The values that a thread loads from global memory for a step along k.
struct Load {
    float4 a[A_LOADS], b[B_LOADS];
};

// The factors of one k: a column of the thread's rows and a row of its columns.
struct Fragment {
    float a[ROWS], b[COLS];
};

// If the whole block lies inside C, and each row begins on a 16-byte boundary: `a` and `b` point to the thread's first elements.
__device__ void load_inside(Load& load, const float* a, const float* b, int K)
{
    #pragma unroll
    for (int i = 0; i < A_LOADS; i++) load.a[i] = *reinterpret_cast<const float4*>(a + (size_t)i * A_ROWS * K);
    #pragma unroll
    for (int i = 0; i < B_LOADS; i++) load.b[i] = *reinterpret_cast<const float4*>(b + 4 * i * B_QUADS);
}

__device__ float read_element(const float* matrix, int y, int x, int height, int width)
{
    return y < height && x < width ? matrix[(size_t)y * width + x] : 0.0f;
}

__device__ float4 read_quad(const float* matrix, int y, int x, int height, int width)
{
    return make_float4(read_element(matrix, y, x + 0, height, width), read_element(matrix, y, x + 1, height, width),
                       read_element(matrix, y, x + 2, height, width), read_element(matrix, y, x + 3, height, width));
}

// The same for any block, with 0 outside of A and B.
__device__ void load_edge(Load& load, const float* A, const float* B, int a_row, int a_k, int b_k, int b_col, int M, int N, int K)
{
    #pragma unroll
    for (int i = 0; i < A_LOADS; i++) load.a[i] = read_quad(A, a_row + i * A_ROWS, a_k, M, K);  // survives: load.b is read later
    #pragma unroll
    for (int i = 0; i < B_LOADS; i++) load.b[i] = read_quad(B, b_k, b_col + 4 * i * B_QUADS, K, N);
}

__device__ void store_tiles(Tiles& tiles, const Load& load, int a_row, int a_k, int b_k, int b_col)
{
    #pragma unroll
    for (int i = 0; i < A_LOADS; i++) {
        tiles.a[a_k + 0][a_row + i * A_ROWS] = load.a[i].x;
        tiles.a[a_k + 1][a_row + i * A_ROWS] = load.a[i].y;
        tiles.a[a_k + 2][a_row + i * A_ROWS] = load.a[i].z;
        tiles.a[a_k + 3][a_row + i * A_ROWS] = load.a[i].w;
    }
    #pragma unroll
    for (int i = 0; i < B_LOADS; i++) *reinterpret_cast<float4*>(&tiles.b[b_k][b_col + 4 * i * B_QUADS]) = load.b[i];
}

__device__ void read_fragment(Fragment& fragment, const Tiles& tiles, int k, int row, int col)
{
    #pragma unroll
    for (int i = 0; i < ROWS; i += 4)
        *reinterpret_cast<float4*>(&fragment.a[i]) = *reinterpret_cast<const float4*>(&tiles.a[k][row + i / 4 * ROW_STRIDE]);
    #pragma unroll
    for (int j = 0; j < COLS; j += 4)
        *reinterpret_cast<float4*>(&fragment.b[j]) = *reinterpret_cast<const float4*>(&tiles.b[k][col + j / 4 * COL_STRIDE]);
}

// Forwards and backwards along the columns: from product to product only one factor changes, and the other stays in the
// register file's operand cache.
__device__ void multiply(float (&sums)[ROWS][COLS], const Fragment& fragment)
{
    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        #pragma unroll
        for (int step = 0; step < COLS; step++) {
            const int j = i % 2 ? COLS - 1 - step : step;  // survives: the same sums in another order
            sums[i][j] += fragment.a[i] * fragment.b[j];
        }
}

// Four neighbours of a row of C.
__device__ void write_quad(float* C, int row, int col, float4 quad, int M, int N, bool inside)
{
    float* to = &C[(size_t)row * N + col];
    if (inside) {
        *reinterpret_cast<float4*>(to) = quad;
    } else if (row < M) {
        if (col + 0 < N) to[0] = quad.x;
        if (col + 1 < N) to[1] = quad.y;
        if (col + 2 < N) to[2] = quad.z;
        if (col + 3 < N) to[3] = quad.w;
    }
}

__global__ void __launch_bounds__(THREADS, 2)
gemm_register_blocked(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ __align__(16) Tiles tiles[2];
    const int block_row = blockIdx.y * BLOCK_M, block_col = blockIdx.x * BLOCK_N;
    const bool inside = block_row + BLOCK_M <= M && block_col + BLOCK_N <= N && K % STEP == 0 && N % 4 == 0;

    // The elements that this thread loads, relative to the corner of the tiles.
    const int a_row = threadIdx.x / 2, a_k = threadIdx.x % 2 * 4;
    const int b_k = threadIdx.x / B_QUADS, b_col = threadIdx.x % B_QUADS * 4;
    const float* a = A + (size_t)(block_row + a_row) * K + a_k;
    const float* b = B + (size_t)b_k * N + block_col + b_col;

    // The beginnings of its patches of C, relative to the corner of the block.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int lane_row = lane / 2 % 8, lane_col = lane % 2 + lane / 16 * 2;
    const int row = warp / (BLOCK_N / WARP_N) * WARP_M + 4 * lane_row;
    const int col = warp % (BLOCK_N / WARP_N) * WARP_N + 4 * lane_col;

    Load load;
    auto bring = [&](int start) {
        if (inside)
            load_inside(load, a, b, K);
        else
            load_edge(load, A, B, block_row + a_row, start + a_k, start + b_k, block_col + b_col, M, N, K);
        a += STEP;
        b += (size_t)STEP * N;
    };

    bring(0);
    store_tiles(tiles[0], load, a_row, a_k, b_k, b_col);
    __syncthreads();

    int current = 0;  // the pair of tiles that the products use
    Fragment fragments[2];
    read_fragment(fragments[0], tiles[current], 0, row, col);
    float sums[ROWS][COLS] = {};
    for (int start = 0; start < K; start += STEP) {
        const bool more = start + STEP < K;
        if (more) bring(start + STEP);
        #pragma unroll
        for (int k = 0; k < STEP; k++) {
            if (k == STEP - 1 && more) {  // registers hold what is needed of the current tiles; survives: stores old tiles once more
                current ^= 1;
                store_tiles(tiles[current], load, a_row, a_k, b_k, b_col);
                __syncthreads();
            }
            read_fragment(fragments[(k + 1) % 2], tiles[current], (k + 1) % STEP, row, col);
            multiply(sums, fragments[k % 2]);
        }
    }

    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        #pragma unroll
        for (int j = 0; j < COLS; j += 4)
            write_quad(C, block_row + row + i / 4 * ROW_STRIDE + i % 4, block_col + col + j / 4 * COL_STRIDE,
                       make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]), M, N, inside);
}
