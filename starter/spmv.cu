// Sparse matrix times vector: y[row] = sum of value[k] * x[column[k]] over the elements k of the row.
//
// The matrix is stored by rows (CSR, compressed sparse rows): only elements that are not 0.
//
//   first   rows + 1 integers: row r has the elements first[r] to first[r + 1] - 1, possibly none
//   column  count integers: the column of each element
//   value   count floats: its value
//   x       cols floats
//   y       rows floats
//
// The first kernel is the baseline: do not change it. `spmv` is yours: it starts as a copy of the baseline. README.md of
// the exercise explains how to improve it.

#define THREADS 256  // threads of a block

// The grader launches the kernel by this line. It may use the names y, first, column, value, x, rows, cols and count,
// your own #defines, ceil_div, min, max and + - * / %. A line `// scratch: int name[rows]` declares a buffer of your own.
//
// launch: spmv<<<ceil_div(rows, THREADS), THREADS>>>(y, first, column, value, x, rows)

// The baseline: a thread multiplies a row.
__global__ void spmv_naive(float* y, const int* first, const int* column, const float* value, const float* x, int rows)
{
    int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int k = first[row]; k < first[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
}

// Yours. Four questions:
//   - which elements of value and column do the 32 lanes of a warp read in the same instruction?
//   - how often does a warp execute its loop, if its rows have 3 to 300 elements?
//   - how many lanes should share a row of 32 elements on average?
//   - how many elements does a lane request before it waits?
__global__ void spmv(float* y, const int* first, const int* column, const float* value, const float* x, int rows)
{
    int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int k = first[row]; k < first[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
}
