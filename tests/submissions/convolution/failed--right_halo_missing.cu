// The halo on the right is never loaded.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BX 32
#define BY 8
#define EACH 1
#define TX BX
#define TY (BY * EACH)

// launch: cudaMemcpyToSymbol(weights, w)
// launch: convolution<<<dim3(ceil_div(cols, TX), ceil_div(rows, TY)), dim3(BX, BY)>>>(out, in, rows, cols)

__constant__ float weights[WIDTH * WIDTH];

__global__ void convolution(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TY + 2 * RADIUS][TX + 2 * RADIUS];
    int left = blockIdx.x * TX, top = blockIdx.y * TY;
    for (int i = threadIdx.y; i < TY + 2 * RADIUS; i += BY)
        for (int j = threadIdx.x; j < TX + RADIUS; j += BX) {
            int row = top + i - RADIUS, col = left + j - RADIUS;
            tile[i][j] = row >= 0 && row < rows && col >= 0 && col < cols ? in[row * cols + col] : 0.0f;
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
