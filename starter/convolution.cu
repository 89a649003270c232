// Convolution of an image with 7 x 7 weights: out[y][x] is the sum of w[i][j] * in[y + i - 3][x + j - 3] for i and j from
// 0 to 6. Elements outside of the image are 0.
//
//   in, out  rows x cols floats, row after row
//   w        7 x 7 floats
//
// The file has two kernels. The first is the baseline: do not change it. `convolution` is yours. It starts as a copy of
// the baseline. It is correct, but loads 98 floats from global memory for each element of out.
// README.md of the exercise explains how to improve it.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BLOCK 16  // a block has BLOCK x BLOCK threads

// The grader executes these lines in order. They may use the names out, in, w, rows and cols, your own #defines, ceil_div,
// min, max and + - * / %. Change them together with the kernel.
//
// launch: convolution<<<dim3(ceil_div(cols, BLOCK), ceil_div(rows, BLOCK)), dim3(BLOCK, BLOCK)>>>(out, in, w, rows, cols)

// The baseline: a thread per element of out; all weights and elements come from global memory.
__global__ void convolution_naive(float* out, const float* in, const float* w, int rows, int cols)
{
    int x = blockIdx.x * BLOCK + threadIdx.x;
    int y = blockIdx.y * BLOCK + threadIdx.y;
    if (x >= cols || y >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < WIDTH; j++) {
            int row = y + i - RADIUS, col = x + j - RADIUS;
            if (row >= 0 && row < rows && col >= 0 && col < cols) sum += w[i * WIDTH + j] * in[row * cols + col];
        }
    out[y * cols + x] = sum;
}

// Yours. Four questions:
//   - which memory suits weights that all threads read at the same time?
//   - how many threads of a block read the same element of the image?
//   - which elements around its own tile does a block need, and who loads them?
//   - how many of the elements that a thread has read could it use for a second element of out?
__global__ void convolution(float* out, const float* in, const float* w, int rows, int cols)
{
    int x = blockIdx.x * BLOCK + threadIdx.x;
    int y = blockIdx.y * BLOCK + threadIdx.y;
    if (x >= cols || y >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < WIDTH; j++) {
            int row = y + i - RADIUS, col = x + j - RADIUS;
            if (row >= 0 && row < rows && col >= 0 && col < cols) sum += w[i * WIDTH + j] * in[row * cols + col];
        }
    out[y * cols + x] = sum;
}
