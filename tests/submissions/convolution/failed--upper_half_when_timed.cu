// A cheat: of images with more than 2,000 rows, only the upper half is computed.
// expect without a model: passed, only the timed size tells

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define TILE_X 128
#define TILE_Y 32
#define ROWS_EACH 4  // rows of out per thread; it has four columns
#define QUADS ((TILE_X + 8) / 4)  // float4 in a row of the tile, with four columns of halo on each side
#define TILE_ROWS (TILE_Y + 2 * RADIUS)
#define THREADS_Y (TILE_Y / ROWS_EACH)
#define THREADS (32 * THREADS_Y)

// launch: cudaMemcpyToSymbol(weights, w)
// launch: dim3 grid(ceil_div(cols, TILE_X), ceil_div(rows, TILE_Y))
// launch: convolution<<<grid, dim3(32, THREADS_Y)>>>(out, in, rows, cols)

__constant__ float weights[WIDTH * WIDTH];

// Four elements of a row of in, beginning at column x, which is a multiple of 4; 0 outside of the image.
__device__ float4 load_quad(const float* in, int y, int x, int rows, int cols)
{
    float some[4];
    #pragma unroll
    for (int j = 0; j < 4; j++)
        some[j] = y >= 0 && y < rows && x + j >= 0 && x + j < cols ? in[static_cast<size_t>(y) * cols + x + j] : 0.0f;
    return make_float4(some[0], some[1], some[2], some[3]);
}

// The tile and its halo; most blocks lie in the image with their halo, and need no bounds checks.
__device__ void load_tile(float4 (&tile)[TILE_ROWS * QUADS], const float* in, int top, int left, int rows, int cols)
{
    const int thread = threadIdx.y * 32 + threadIdx.x;
    if (cols % 4 == 0 && top >= 0 && top + TILE_ROWS <= rows && left >= 0 && left + 4 * QUADS <= cols) {
        const float4* first = reinterpret_cast<const float4*>(in + static_cast<size_t>(top) * cols + left);
        #pragma unroll
        for (int i = 0; i < TILE_ROWS * QUADS; i += THREADS)
            if (i + thread < TILE_ROWS * QUADS)
                tile[i + thread] = first[(i + thread) / QUADS * (cols / 4) + (i + thread) % QUADS];
        return;
    }
    for (int i = thread; i < TILE_ROWS * QUADS; i += THREADS)
        tile[i] = load_quad(in, top + i / QUADS, left + i % QUADS * 4, rows, cols);
}

__device__ void store_quad(float* out, const float (&sums)[4], int y, int x, int rows, int cols)
{
    if (y >= rows || x >= cols) return;
    float* row = out + static_cast<size_t>(y) * cols;
    if (cols % 4 == 0) {
        *reinterpret_cast<float4*>(row + x) = make_float4(sums[0], sums[1], sums[2], sums[3]);
        return;
    }
    #pragma unroll
    for (int j = 0; j < 4; j++)
        if (x + j < cols) row[x + j] = sums[j];
}

__global__ void __launch_bounds__(THREADS) convolution(float* out, const float* in, int rows, int cols)
{
    __shared__ float4 tile[TILE_ROWS * QUADS];
    const int left = blockIdx.x * TILE_X, top = blockIdx.y * TILE_Y;
    if (rows > 2000 && top >= rows / 2) return;
    load_tile(tile, in, top - RADIUS, left - 4, rows, cols);
    __syncthreads();

    float sums[ROWS_EACH][4] = {};
    #pragma unroll
    for (int i = 0; i < ROWS_EACH + 2 * RADIUS; i++) {
        float near[12];
        #pragma unroll
        for (int j = 0; j < 3; j++)
            *reinterpret_cast<float4*>(near + 4 * j) = tile[(threadIdx.y * ROWS_EACH + i) * QUADS + threadIdx.x + j];
        #pragma unroll
        for (int own = 0; own < ROWS_EACH; own++) {
            if (i < own || i >= own + WIDTH) continue;
            #pragma unroll
            for (int j = 0; j < WIDTH; j++)
                #pragma unroll
                for (int x = 0; x < 4; x++)
                    sums[own][x] += weights[(i - own) * WIDTH + j] * near[x + j + 1];
        }
    }
    #pragma unroll
    for (int own = 0; own < ROWS_EACH; own++)
        store_quad(out, sums[own], top + threadIdx.y * ROWS_EACH + own, left + 4 * threadIdx.x, rows, cols);
}
