// Softmax of each row of a matrix: out[row][col] = exp(in[row][col] - max) / sum, where max is the largest element of
// the row, and sum is the sum of exp(in[row][j] - max) over all j.
//
//   in    rows x cols floats, row after row
//   out   as in
//
// The file has two kernels. `softmax_naive` is the baseline: do not change it. `softmax` is yours: it starts as a copy
// of the baseline. It is correct, but slow. README.md of the exercise explains how to improve it.

#define THREADS 128  // threads of a block

// The grader launches the kernel by this line. It may use the names in, out, rows and cols, your own #defines,
// ceil_div, min, max and + - * / %. Change it if you change the kernel: its grid, its block, its name. A buffer of your
// own needs a line `// scratch: float name[rows]`.
//
// launch: softmax<<<ceil_div(rows, THREADS), THREADS>>>(out, in, rows, cols)

// The baseline: a thread computes a row, in three passes: the maximum, the sum, the result.
__global__ void softmax_naive(float* out, const float* in, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = in + (size_t)row * cols;
    float* y = out + (size_t)row * cols;
    float highest = x[0];
    for (int col = 1; col < cols; col++) highest = fmaxf(highest, x[col]);
    float sum = 0.0f;
    for (int col = 0; col < cols; col++) sum += expf(x[col] - highest);
    for (int col = 0; col < cols; col++) y[col] = expf(x[col] - highest) / sum;
}

// Yours. Four questions:
//   - which addresses does a warp read in one step of a loop?
//   - can 32 lanes find a maximum and a sum together, without shared memory?
//   - can one loop find the maximum and the sum?
//   - how often is each element read from memory, and how often must it be read?
__global__ void softmax(float* out, const float* in, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = in + (size_t)row * cols;
    float* y = out + (size_t)row * cols;
    float highest = x[0];
    for (int col = 1; col < cols; col++) highest = fmaxf(highest, x[col]);
    float sum = 0.0f;
    for (int col = 0; col < cols; col++) sum += expf(x[col] - highest);
    for (int col = 0; col < cols; col++) y[col] = expf(x[col] - highest) / sum;
}
