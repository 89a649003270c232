// The starter in blocks of 32 x 8 threads: a warp reads 32 neighbours of a row.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BX 32
#define BY 8

// launch: convolution<<<dim3(ceil_div(cols, BX), ceil_div(rows, BY)), dim3(BX, BY)>>>(out, in, w, rows, cols)

__global__ void convolution(float* out, const float* in, const float* w, int rows, int cols)
{
    int x = blockIdx.x * BX + threadIdx.x;
    int y = blockIdx.y * BY + threadIdx.y;
    if (x >= cols || y >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < WIDTH; j++) {
            int row = y + i - RADIUS, col = x + j - RADIUS;
            if (row >= 0 && row < rows && col >= 0 && col < cols) sum += w[i * WIDTH + j] * in[row * cols + col];
        }
    out[y * cols + x] = sum;
}
