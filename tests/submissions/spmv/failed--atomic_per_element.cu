// A thread per element finds its row by bisection, and adds to y by an atomic operation.
#define THREADS 256
// launch: cudaMemset(y, 0, rows * 4)
// launch: spmv<<<ceil_div(count, THREADS), THREADS>>>(y, first, column, value, x, rows, count)

__global__ void spmv(float* y, const int* first, const int* column, const float* value, const float* x, int rows, int count)
{
    int k = blockIdx.x * THREADS + threadIdx.x, low = 0, high = rows;
    if (k >= count) return;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (first[middle] <= k) low = middle;
        else high = middle;
    }
    atomicAdd(&y[low], value[k] * x[column[k]]);
}
