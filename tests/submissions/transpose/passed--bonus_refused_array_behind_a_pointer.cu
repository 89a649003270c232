// The padded tile, and "in place" by way of a __device__ array that the kernels know by a pointer in constant memory only.
// expect bonus: failed (can reach 4,194,304 bytes of them, most of them declared in line 24)
#define TILE 32
#define ROWS 8
// launch: transpose_shared<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)
// launch in_place: save<<<ceil_div(n * n, 256), 256>>>(data, n)
// launch in_place: turn<<<ceil_div(n * n, 256), 256>>>(data, n)

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

__device__ float storage[1024 * 1024];
__constant__ float* copy = storage;

__global__ void save(const float* data, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n * n) copy[i] = data[i];
}

__global__ void turn(float* data, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n * n) data[i] = copy[i % n * n + i / n];
}
