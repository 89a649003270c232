// float4 reads of rows whose length is no multiple of 4.
// launch: t4<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(8, 32)>>>(out, in, rows, cols)
__global__ void t4(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x * 4, y = blockIdx.y * 32 + threadIdx.y;
    if (y < rows && x + 3 < cols) {
        float4 v = *(float4*)&in[y * cols + x];
        tile[threadIdx.y][threadIdx.x * 4 + 0] = v.x;
        tile[threadIdx.y][threadIdx.x * 4 + 1] = v.y;
        tile[threadIdx.y][threadIdx.x * 4 + 2] = v.z;
        tile[threadIdx.y][threadIdx.x * 4 + 3] = v.w;
    } else if (y < rows) {
        for (int i = 0; i < 4 && x + i < cols; i++) tile[threadIdx.y][threadIdx.x * 4 + i] = in[y * cols + x + i];
    }
    __syncthreads();
    int lane = (threadIdx.y * 8 + threadIdx.x) % 32, warp = (threadIdx.y * 8 + threadIdx.x) / 32;
    for (int j = warp; j < 32; j += 8)
        if (blockIdx.y * 32 + lane < rows && blockIdx.x * 32 + j < cols)
            out[(blockIdx.x * 32 + j) * rows + blockIdx.y * 32 + lane] = tile[lane][j];
}
