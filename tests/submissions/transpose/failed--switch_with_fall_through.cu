// A switch on the number of rows that are left, with fall-through. Only a clock tells: 66 % of the peak on an H100.
// expect without a model: passed, only a clock tells (66 % of an H100's peak bandwidth, 80 % are asked)
// launch: sw<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void sw(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    const int n = x < cols ? max(0, min(4, (rows - y + 7) / 8)) : 0;
    const float* p = in + (size_t)y * cols + x;
    switch (n) {
    case 4: tile[ty + 24][tx] = p[24 * (size_t)cols];  // fall through
    case 3: tile[ty + 16][tx] = p[16 * (size_t)cols];
    case 2: tile[ty + 8][tx] = p[8 * (size_t)cols];
    case 1: tile[ty][tx] = p[0];
    default: break;
    }
    __syncthreads();
    const int u = blockIdx.y * 32 + tx, v = blockIdx.x * 32 + ty;
    const int m = u < rows ? max(0, min(4, (cols - v + 7) / 8)) : 0;
    float* q = out + (size_t)v * rows + u;
    switch (m) {
    case 4: q[24 * (size_t)rows] = tile[tx][ty + 24];
    case 3: q[16 * (size_t)rows] = tile[tx][ty + 16];
    case 2: q[8 * (size_t)rows] = tile[tx][ty + 8];
    case 1: q[0] = tile[tx][ty];
    }
}
