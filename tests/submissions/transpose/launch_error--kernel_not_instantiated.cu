// The launch line names an instance of the template that the file does not instantiate.
// launch: t<64><<<dim3(ceil_div(cols, 64), ceil_div(rows, 64)), dim3(64, 4)>>>(out, in, rows, cols)
template <int N>
__global__ void t(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[N][N + 1];
    const int x = blockIdx.x * N, y = blockIdx.y * N;
    for (int j = threadIdx.y; j < N; j += blockDim.y)
        if (x + threadIdx.x < cols && y + j < rows) tile[j][threadIdx.x] = in[(y + j) * cols + x + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < N; j += blockDim.y)
        if (y + threadIdx.x < rows && x + j < cols) out[(x + j) * rows + y + threadIdx.x] = tile[threadIdx.x][j];
}
template __global__ void t<32>(float*, const float*, int, int);
