// A block of 8 x 4 x 8 threads: x and y make up the lane, z the row. Only a clock tells: 65 % of the peak on an H100.
// expect without a model: passed, only a clock tells (65 % of an H100's peak bandwidth, 80 % are asked)
// launch: box<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(8, 4, 8)>>>(out, in, rows, cols)
__global__ void box(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int lane = threadIdx.y * blockDim.x + threadIdx.x;
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    for (int j = threadIdx.z; j < 32; j += blockDim.z)
        if (x + lane < cols && y + j < rows)
            tile[j][lane] = in[(y + j) * cols + (x + lane)];
    __syncthreads();
    for (int j = threadIdx.z; j < 32; j += blockDim.z)
        if (y + lane < rows && x + j < cols)
            out[(x + j) * rows + (y + lane)] = tile[lane][j];
}
