// No bounds check: elements outside of the image are read.
// expect on an emulated device: runtime_error (reads beyond the image)

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BX 32
#define BY 8

// launch: cudaMemcpyToSymbol(weights, w)
// launch: convolution<<<dim3(ceil_div(cols, BX), ceil_div(rows, BY)), dim3(BX, BY)>>>(out, in, rows, cols)

__constant__ float weights[WIDTH * WIDTH];

__global__ void convolution(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * BX + threadIdx.x;
    int y = blockIdx.y * BY + threadIdx.y;
    if (x >= cols || y >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < WIDTH; j++) {
            int row = y + i - RADIUS, col = x + j - RADIUS;
            sum += weights[i * WIDTH + j] * in[row * cols + col];
        }
    out[y * cols + x] = sum;
}
