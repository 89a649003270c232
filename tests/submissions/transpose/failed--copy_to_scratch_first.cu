// Two kernels: copy to scratch, then transpose from there. Every element moves twice: about half of the bandwidth.
// expect without a model: passed, only a clock tells (38 % of an H100's peak bandwidth, 80 % are asked)
// scratch: float temp[rows * cols]
// launch: copy<<<ceil_div(rows * cols, 256), 256>>>(temp, in, rows * cols)
// launch: transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, temp, rows, cols)
__global__ void copy(float* to, const float* from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void transpose(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
