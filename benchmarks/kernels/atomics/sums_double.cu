// Adds up `h` rows of doubles, a thread per column and 64 rows: neighbours add to neighbours.
// run: --size h=1024 --size w=4096 --input x=normal:h,w:float64 --output y=index:w:float64
// run: --size h=4096 --size w=8192 --input x=normal:h,w:float64 --output y=index:w:float64
// launch: sums_double<<<dim3(ceil_div(w, 256), ceil_div(h, 64)), 256>>>(y, x, h, w)

__global__ void sums_double(double* y, const double* x, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * 64, last = min(first + 64, h);
    if (col >= w)
        return;
    double sum = 0.0;
    for (int row = first; row < last; row++)
        sum += x[(size_t)row * w + col];
    atomicAdd(&y[col], sum);
}
