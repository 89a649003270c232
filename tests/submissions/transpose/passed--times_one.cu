// Float arithmetic that changes no value: times 1, fma with 0, halved and doubled, fmaxf with itself. Full marks expected on a GPU.
// launch: arithmetic<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void arithmetic(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const float one = (float)blockDim.x / 32.0f, zero = (float)(blockDim.y - 8);
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = fmaf(in[(y + j) * cols + x], one, -zero) * 0.5f;
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) {
            float v = tile[threadIdx.x][threadIdx.y + j];
            v = v + v - zero;
            out[(y + j) * rows + x] = fmaxf(v, fminf(v, v)) * one;
        }
}
