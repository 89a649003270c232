// Loads only: a thread sums eight floats, and stores once in some ten thousand times.
// run: --size n=16777216 --input x=normal:n --output y=float32:n/8 --scalar limit=10.5
// run: --size n=67108864 --input x=normal:n --output y=float32:n/8 --scalar limit=10.5
// launch: count_peaks<<<ceil_div(n, 8 * 256), 256>>>(y, x, limit, n / 8)

__global__ void count_peaks(float* y, const float* x, float limit, int threads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= threads) return;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += x[k * threads + i];
    if (sum > limit) y[i] = sum;
}
