// Values pass through double and back, scaled by powers of two only: exact. Full marks expected on a GPU.
// launch: doubles<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void doubles(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const double one = gridDim.z;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) {
            double d = in[(y + j) * cols + x];
            d = d * (2.0 + one) + d;
            tile[threadIdx.y + j][threadIdx.x] = (float)(d * 0.0625);
        }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) out[(y + j) * rows + x] = (float)((double)tile[threadIdx.x][threadIdx.y + j] * (5.0 - one));
}
