// 4 x 4 elements per thread, read and stored in float4. The tile is loaded float by float.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BX 32
#define BY 8
#define EACH 4
#define TX (4 * BX)
#define TY (BY * EACH)
#define TILE_COLS (TX + 8)
#define TILE_ROWS (TY + 2 * RADIUS)

// launch: cudaMemcpyToSymbol(weights, w)
// launch: convolution<<<dim3(ceil_div(cols, TX), ceil_div(rows, TY)), dim3(BX, BY)>>>(out, in, rows, cols)

__constant__ float weights[WIDTH * WIDTH];

__global__ void convolution(float* out, const float* in, int rows, int cols)
{
    __shared__ alignas(16) float tile[TILE_ROWS][TILE_COLS];
    int left = blockIdx.x * TX, top = blockIdx.y * TY;
    int thread = threadIdx.y * BX + threadIdx.x;
    if (top >= RADIUS && left >= 4 && top + TY + RADIUS <= rows && left + TX + 4 <= cols) {
        const float* first = in + (top - RADIUS) * cols + left - 4;
        #pragma unroll
        for (int i = 0; i < TILE_ROWS * TILE_COLS; i += BX * BY)
            if (i + thread < TILE_ROWS * TILE_COLS)
                tile[0][i + thread] = first[(i + thread) / TILE_COLS * cols + (i + thread) % TILE_COLS];
    } else
        for (int i = thread; i < TILE_ROWS * TILE_COLS; i += BX * BY) {
            int row = top + i / TILE_COLS - RADIUS, col = left + i % TILE_COLS - 4;
            tile[0][i] = row >= 0 && row < rows && col >= 0 && col < cols ? in[row * cols + col] : 0.0f;
        }
    __syncthreads();
    float sums[EACH][4] = {};
    #pragma unroll
    for (int i = 0; i < EACH + 2 * RADIUS; i++) {
        float near[12];
        for (int j = 0; j < 12; j += 4)
            *reinterpret_cast<float4*>(near + j) = *reinterpret_cast<float4*>(&tile[threadIdx.y * EACH + i][4 * threadIdx.x + j]);
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            #pragma unroll
            for (int j = 0; j < WIDTH; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++)
                    if (i >= e && i < e + WIDTH) sums[e][k] += weights[(i - e) * WIDTH + j] * near[k + j + 1];
    }
    int x = left + 4 * threadIdx.x, y = top + threadIdx.y * EACH;
    #pragma unroll
    for (int e = 0; e < EACH; e++) {
        if (x >= cols || y + e >= rows) return;
        float* to = out + (y + e) * cols + x;
        if (cols % 4 == 0)
            *reinterpret_cast<float4*>(to) = make_float4(sums[e][0], sums[e][1], sums[e][2], sums[e][3]);
        else
            #pragma unroll
            for (int k = 0; k < 4; k++)
                if (x + k < cols) to[k] = sums[e][k];
    }
}
