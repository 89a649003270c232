// The column of an element is not read: x is used in the order of the elements, as if the matrix were dense.
#define THREADS 256
#define LANES 8
// launch: spmv<<<ceil_div(rows * LANES, THREADS), THREADS>>>(y, first, value, x, rows, cols)

__global__ void spmv(float* y, const int* first, const float* value, const float* x, int rows, int cols)
{
    int row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (row < rows)
        for (int k = first[row] + lane, end = first[row + 1]; k < end; k += LANES) sum += value[k] * x[(k - first[row]) % cols];
    for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffffu, sum, apart, LANES);
    if (row < rows && lane == 0) y[row] = sum;
}
