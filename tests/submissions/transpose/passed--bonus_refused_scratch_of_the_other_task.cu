// The padded tile, and "in place" by way of the scratch buffer that the exercise itself declares: a part has buffers of its own.
// expect bonus: failed (line 7, column 57: 'copy' is no constant)
#define TILE 32
#define ROWS 8
// scratch: float copy[1024 * 1024]
// launch: transpose_shared<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)
// launch in_place: save<<<ceil_div(n * n, 256), 256>>>(copy, data, n)
// launch in_place: turn<<<ceil_div(n * n, 256), 256>>>(data, copy, n)

__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    #pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    #pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void save(float* copy, const float* data, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n * n) copy[i] = data[i];
}

__global__ void turn(float* data, const float* copy, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n * n) data[i] = copy[i % n * n + i / n];
}
