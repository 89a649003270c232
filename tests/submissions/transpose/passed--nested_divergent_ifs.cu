// Nested ifs that split the lanes of a warp several times over. On a GPU: bandwidth is partial.
// launch: nested<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void nested(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    __shared__ int odd_lanes, even_lanes;
    const int tx = threadIdx.x;
    if (tx == 0 && threadIdx.y == 0) { odd_lanes = 0; even_lanes = 0; }
    __syncthreads();
    for (int ty = threadIdx.y; ty < 32; ty += 8) {
        const int x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
        if (y < rows) {
            if (x < cols) {
                const float v = in[y * cols + x];
                if (tx & 1) {
                    if (v > 0.0f) {
                        if (ty == 3) odd_lanes = tx;
                    } else if (v < -1.0f) {
                        if (tx > 16) odd_lanes = -tx;
                        else odd_lanes = ty;
                    }
                } else {
                    if (tx % 3 == 0) even_lanes = ty;
                    else if (tx % 3 == 1 && v != 2.0f) even_lanes = tx + ty;
                }
                tile[ty][tx] = v;
            }
        } else if (x == 0) {
            odd_lanes = -1;
        }
    }
    __syncthreads();
    const int anything = (odd_lanes | even_lanes) >> 31 & 0;
    for (int ty = threadIdx.y; ty < 32; ty += 8) {
        const int x = blockIdx.y * 32 + tx, y = blockIdx.x * 32 + ty;
        if (x < rows) if (y < cols) out[y * rows + x] = tile[tx][ty + anything];
    }
}
