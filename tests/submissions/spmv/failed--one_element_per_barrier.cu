// Chunks of one element per thread: a block waits at two barriers for each.
#define THREADS 128
#define LANES 4  // threads that add a row
#define ROWS (THREADS / LANES)
#define CHUNK 128

// launch: spmv<<<ceil_div(rows, ROWS), THREADS>>>(y, first, column, value, x, rows)

__global__ void __launch_bounds__(THREADS)
    spmv(float* y, const int* first, const int* column, const float* value, const float* x, int rows)
{
    __shared__ float products[CHUNK];
    const int row0 = blockIdx.x * ROWS, row = row0 + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int begin = first[min(row, rows)], stop = first[min(row + 1, rows)];
    const int end = first[min(row0 + ROWS, rows)];
    float sum = 0.0f;
    for (int k0 = first[row0]; k0 < end; k0 += CHUNK) {
        for (int k = k0 + threadIdx.x; k < min(end, k0 + CHUNK); k += THREADS) products[k - k0] = value[k] * x[column[k]];
        __syncthreads();
        for (int k = max(begin, k0) + lane; k < min(stop, k0 + CHUNK); k += LANES) sum += products[k - k0];
        __syncthreads();
    }
    #pragma unroll
    for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffffu, sum, apart, LANES);
    if (row < rows && lane == 0) y[row] = sum;
}
