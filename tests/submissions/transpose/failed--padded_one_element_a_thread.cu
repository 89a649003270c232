// 32 x 33 tile, one element a thread: no conflicts, and too few bytes in flight. 49 % of an H100's peak where 80 % are asked.
// expect without a model: passed, only a clock tells (49 % of an H100's peak bandwidth, 80 % are asked)
// launch: transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(out, in, rows, cols)
__global__ void transpose(float* out, const float* in, int rows, int cols) {
    __shared__ float tile[32][33];   // +1 so that a column touches 32 banks

    unsigned int tx = threadIdx.x, ty = threadIdx.y;
    unsigned int x = blockIdx.x * 32 + tx;
    unsigned int y = blockIdx.y * 32 + ty;

    if ((x < cols) && (y < rows)) {
        unsigned int idx_in = y * cols + x;
        tile[ty][tx] = in[idx_in];
    }
    __syncthreads();

    x = blockIdx.y * 32 + tx;
    y = blockIdx.x * 32 + ty;
    if ((x < rows) && (y < cols)) {
        unsigned int idx_out = y * rows + x;
        out[idx_out] = tile[tx][ty];
    }
}
