// Every lane searches the inverse of a permutation in a loop of its own length, in a function that is not inlined. Only a clock tells: 66 % of the peak on an H100.
// expect without a model: passed, only a clock tells (66 % of an H100's peak bandwidth, 80 % are asked)
// launch: lanes<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols, 5, 3)
__device__ __noinline__ int inverse(int value, int factor, int shift)
{
    int guess = 0;
    while (((guess * factor + shift) & 31) != value) {
        if (guess > 31) break;
        ++guess;
    }
    return guess;
}

__global__ void lanes(float* out, const float* in, int rows, int cols, int factor, int shift)
{
    __shared__ float tile[32][33];
    __shared__ int where[32];
    const int tx = threadIdx.x;
    if (threadIdx.y == 0) where[tx] = inverse(tx, factor, shift);
    __syncthreads();
    const int x = blockIdx.x * 32 + tx;
    for (int j = threadIdx.y; j < 32; j += 8) {
        const int y = blockIdx.y * 32 + j;
        if (x < cols && y < rows) tile[j][where[tx]] = in[y * cols + x];
    }
    __syncthreads();
    const int c = blockIdx.y * 32 + tx;
    for (int j = threadIdx.y; j < 32; j += 8) {
        const int r = blockIdx.x * 32 + j;
        if (r < cols && c < rows) out[r * rows + c] = tile[tx][where[j]];
    }
}
