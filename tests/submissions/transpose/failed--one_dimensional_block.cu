// 1-D block of 256 threads; row and column in the tile by / and % of a constant. Only a clock tells: 79 % of the peak on an H100.
// expect without a model: passed, only a clock tells (79 % of an H100's peak bandwidth, 80 % are asked)
// expect with a model: passed, the model is too fast (82 % of the peak)
#define N 32
#define THREADS 256
// launch: transpose1d<<<dim3(ceil_div(cols, N), ceil_div(rows, N)), THREADS>>>(out, in, rows, cols)
__global__ void transpose1d(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[N][N + 1];
    for (int e = threadIdx.x; e < N * N; e += THREADS) {
        int r = e / N;
        int c = e % N;
        int y = blockIdx.y * N + r;
        int x = blockIdx.x * N + c;
        if (y < rows && x < cols)
            tile[r][c] = in[y * cols + x];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < N * N; e += THREADS) {
        int c = e / N;
        int r = e % N;
        int y = blockIdx.y * N + r;
        int x = blockIdx.x * N + c;
        if (y < rows && x < cols)
            out[x * rows + y] = tile[r][c];
    }
}
