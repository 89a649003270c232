// Divides by a one that the compiler does not know, with IEEE division, and takes |v| with v's own sign. Only a clock tells: 66 % of the peak on an H100.
// expect without a model: passed, only a clock tells (66 % of an H100's peak bandwidth, 80 % are asked)
// launch: division<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void division(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const float one = gridDim.z;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x] / one;
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) {
            const float v = tile[threadIdx.x][threadIdx.y + j];
            out[(y + j) * rows + x] = copysignf(fabsf(v), v);
        }
}
