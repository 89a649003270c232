// template<int TILE, int ROWS>, explicitly instantiated. Full marks expected on a GPU.
// launch: transpose<32, 4><<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 4)>>>(out, in, rows, cols)
template <int TILE, int ROWS>
__global__ void transpose(float* out, const float* in, int rows, int cols)
{
    static_assert(TILE % ROWS == 0, "the tile must be a multiple of the rows of a block");
    __shared__ float tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    float v[TILE / ROWS];

    #pragma unroll
    for (int i = 0; i < TILE / ROWS; ++i) {
        const int r = threadIdx.y + i * ROWS;
        v[i] = (y + r < rows && x + threadIdx.x < cols) ? in[(y + r) * cols + x + threadIdx.x] : 0.0f;
    }
    #pragma unroll
    for (int i = 0; i < TILE / ROWS; ++i)
        tile[threadIdx.y + i * ROWS][threadIdx.x] = v[i];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < TILE / ROWS; ++i) {
        const int r = threadIdx.y + i * ROWS;
        if (x + r < cols && y + threadIdx.x < rows)
            out[(x + r) * rows + y + threadIdx.x] = tile[threadIdx.x][r];
    }
}

template __global__ void transpose<32, 8>(float*, const float*, int, int);
template __global__ void transpose<32, 4>(float*, const float*, int, int);
