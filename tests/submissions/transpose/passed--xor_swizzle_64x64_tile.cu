// 64 x 64 tile, 64 x 4 threads, column index XOR-ed with the low five bits of the row. Full marks expected on a GPU.
// launch: transpose64<<<dim3(ceil_div(cols, 64), ceil_div(rows, 64)), dim3(64, 4)>>>(out, in, rows, cols)
__device__ int place(int row, int col) { return row * 64 + (col ^ (row & 31)); }

__global__ void transpose64(float* out, const float* in, int rows, int cols) {
    __shared__ float tile[64 * 64];
    const int bx = blockIdx.x << 6;
    const int by = blockIdx.y << 6;
    const int tx = threadIdx.x;
    #pragma unroll 4
    for (int i = threadIdx.y; i < 64; i += 4) {
        const int y = by + i, x = bx + tx;
        if (y < rows && x < cols) tile[place(i, tx)] = in[y * cols + x];
    }
    __syncthreads();
    #pragma unroll 4
    for (int i = threadIdx.y; i < 64; i += 4) {
        const int y = bx + i, x = by + tx;
        if (y < cols && x < rows) out[y * rows + x] = tile[place(tx, i)];
    }
}
