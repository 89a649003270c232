// float2 reads put into a padded tile as two scalars, two words apart between neighbours: the stores conflict two ways.
// launch: transpose2<<<dim3(ceil_div(cols, 64), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose2(float* out, const float* in, int rows, int cols)
{
    __shared__ float t[32][65];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 64 + 2 * tx;
    int y = blockIdx.y * 32 + ty;
    bool even = (cols % 2) == 0;
    for (int j = 0; j < 32; j += 8) {
        if (y + j >= rows) continue;
        if (even && x < cols) {
            float2 v = *(const float2*)(in + (size_t)(y + j) * cols + x);
            t[ty + j][2 * tx] = v.x;
            t[ty + j][2 * tx + 1] = v.y;
        } else {
            if (x < cols)     t[ty + j][2 * tx]     = in[(size_t)(y + j) * cols + x];
            if (x + 1 < cols) t[ty + j][2 * tx + 1] = in[(size_t)(y + j) * cols + x + 1];
        }
    }
    __syncthreads();
    int ox = blockIdx.y * 32 + tx;
    int oy = blockIdx.x * 64 + ty;
    for (int j = 0; j < 64; j += 8)
        if (ox < rows && oy + j < cols)
            out[(size_t)(oy + j) * rows + ox] = t[tx][ty + j];
}
