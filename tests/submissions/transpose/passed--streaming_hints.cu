// Cache hints: __ldcs, __ldcg and __stcs, __stwt. Full marks expected on a GPU.
// launch: hints<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void hints(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 16) {
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = __ldcs(in + (size_t)(y + j) * cols + x);
        if (x < cols && y + j + 8 < rows) tile[threadIdx.y + j + 8][threadIdx.x] = __ldcg(in + (size_t)(y + j + 8) * cols + x);
    }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 16) {
        if (x < rows && y + j < cols) __stcs(out + (size_t)(y + j) * rows + x, tile[threadIdx.x][threadIdx.y + j]);
        if (x < rows && y + j + 8 < cols) __stwt(out + (size_t)(y + j + 8) * rows + x, tile[threadIdx.x][threadIdx.y + j + 8]);
    }
}
