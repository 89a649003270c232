// 4 x 4 elements per thread, the tile read in float4 but loaded float by float.

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
    for (int i = threadIdx.y * BX + threadIdx.x; i < TILE_ROWS * TILE_COLS; i += BX * BY) {
        int row = top + i / TILE_COLS - RADIUS, col = left + i % TILE_COLS - 4;
        tile[i / TILE_COLS][i % TILE_COLS] = row >= 0 && row < rows && col >= 0 && col < cols ? in[row * cols + col] : 0.0f;
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
    #pragma unroll
    for (int e = 0; e < EACH; e++)
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            int x = left + 4 * threadIdx.x + k, y = top + threadIdx.y * EACH + e;
            if (x < cols && y < rows) out[y * cols + x] = sums[e][k];
        }
}
