// In each chunk, a row begins at its own start, which may lie before the chunk: an address before the shared array.
#define THREADS 128
#define LANES 4  // threads that add a row
#define ROWS (THREADS / LANES)
#define CHUNK 1536

// launch: spmv<<<ceil_div(rows, ROWS), THREADS>>>(y, first, column, value, x, rows)

// Stores the products of the elements k0 to k0 + CHUNK - 1, or up to end - 1.
__device__ void multiply(
    float* products, const int* column, const float* value, const float* x, int k0, int end)
{
    int columns[CHUNK / THREADS];
    float values[CHUNK / THREADS];
    #pragma unroll
    for (int j = 0; j < CHUNK / THREADS; j++) {
        int k = k0 + j * THREADS + threadIdx.x;
        columns[j] = k < end ? __ldcs(&column[k]) : 0;
        values[j] = k < end ? __ldcs(&value[k]) : 0.0f;
    }
    #pragma unroll
    for (int j = 0; j < CHUNK / THREADS; j++) products[j * THREADS + threadIdx.x] = values[j] * x[columns[j]];
}

__global__ void __launch_bounds__(THREADS)
    spmv(float* y, const int* first, const int* column, const float* value, const float* x, int rows)
{
    __shared__ float products[CHUNK];
    const int row0 = blockIdx.x * ROWS, row = row0 + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int begin = first[min(row, rows)], stop = first[min(row + 1, rows)];
    const int end = first[min(row0 + ROWS, rows)];
    float sum = 0.0f;
    for (int k0 = first[row0]; k0 < end; k0 += CHUNK) {
        multiply(products, column, value, x, k0, end);
        __syncthreads();
        for (int k = begin + lane; k < min(stop, k0 + CHUNK); k += LANES) sum += products[k - k0];
        __syncthreads();
    }
    #pragma unroll
    for (int apart = LANES / 2; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffffu, sum, apart, LANES);
    if (row < rows && lane == 0) y[row] = sum;
}
