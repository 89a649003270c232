// A column of eight elements per thread; blocks whose tile lies in the image load it without bounds checks.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BX 32
#define BY 8
#define EACH 8
#define TX BX
#define TY (BY * EACH)
#define TILE_COLS (TX + 2 * RADIUS)
#define TILE_ROWS (TY + 2 * RADIUS)

// launch: cudaMemcpyToSymbol(weights, w)
// launch: convolution<<<dim3(ceil_div(cols, TX), ceil_div(rows, TY)), dim3(BX, BY)>>>(out, in, rows, cols)

__constant__ float weights[WIDTH * WIDTH];

__global__ void convolution(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE_ROWS][TILE_COLS];
    int left = blockIdx.x * TX, top = blockIdx.y * TY;
    int thread = threadIdx.y * BX + threadIdx.x;
    if (top >= RADIUS && left >= RADIUS && top + TY + RADIUS <= rows && left + TX + RADIUS <= cols) {
        const float* first = in + (top - RADIUS) * cols + left - RADIUS;
        #pragma unroll
        for (int i = 0; i < TILE_ROWS * TILE_COLS; i += BX * BY) {
            int at = i + thread;
            if (at < TILE_ROWS * TILE_COLS) tile[0][at] = first[at / TILE_COLS * cols + at % TILE_COLS];
        }
    } else
        for (int i = thread; i < TILE_ROWS * TILE_COLS; i += BX * BY) {
            int row = top + i / TILE_COLS - RADIUS, col = left + i % TILE_COLS - RADIUS;
            tile[0][i] = row >= 0 && row < rows && col >= 0 && col < cols ? in[row * cols + col] : 0.0f;
        }
    __syncthreads();
    float sums[EACH] = {};
    #pragma unroll
    for (int e = 0; e < EACH; e++)
        #pragma unroll
        for (int i = 0; i < WIDTH; i++)
            #pragma unroll
            for (int j = 0; j < WIDTH; j++)
                sums[e] += weights[i * WIDTH + j] * tile[threadIdx.y * EACH + e + i][threadIdx.x + j];
    int x = left + threadIdx.x, y = top + threadIdx.y * EACH;
    for (int e = 0; e < EACH; e++)
        if (x < cols && y + e < rows) out[(y + e) * cols + x] = sums[e];
}
