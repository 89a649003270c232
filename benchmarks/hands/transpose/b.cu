// launch: flip<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 32)>>>(in, out, cols, rows)
__global__ void flip(const float* src, float* dst, int width, int height)
{
    __shared__ float buffer[32][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    if (col < width && row < height) {
        buffer[threadIdx.y][threadIdx.x] = src[row * width + col];
    }
    __syncthreads();
    int newCol = blockIdx.y * 32 + threadIdx.x;
    int newRow = blockIdx.x * 32 + threadIdx.y;
    if (newCol < height && newRow < width) {
        dst[newRow * height + newCol] = buffer[threadIdx.x][threadIdx.y];
    }
}
