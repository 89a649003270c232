// Eight lanes multiply a row.
// expect without a model: passed, only a clock tells (46 % of the peak, 57 % are asked)
#define THREADS 256
#define LANES 8
// launch: spmv<<<ceil_div(rows * LANES, THREADS), THREADS>>>(y, first, column, value, x, rows)

__global__ void spmv(float* y, const int* first, const int* column, const float* value, const float* x, int rows)
{
    int row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (row < rows)
        for (int k = first[row] + lane, end = first[row + 1]; k < end; k += LANES) sum += value[k] * x[column[k]];
    for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffffu, sum, apart, LANES);
    if (row < rows && lane == 0) y[row] = sum;
}
