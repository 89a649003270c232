// while and do loops whose lanes leave early (break) or skip (continue) at ragged edges. Full marks expected on a GPU.
// launch: loops<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void loops(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int y = threadIdx.y;
    while (true) {
        int gx = blockIdx.x * 32 + threadIdx.x, gy = blockIdx.y * 32 + y;
        if (gx >= cols) break;
        if (y >= 32) break;
        if (gy >= rows) {
            y += 8;
            continue;
        }
        tile[y][threadIdx.x] = in[(size_t)gy * cols + gx];
        y += 8;
    }
    __syncthreads();
    int left = 32 - threadIdx.y;
    do {
        int j = 32 - left;
        left -= 8;
        if ((int)(blockIdx.y * 32 + threadIdx.x) >= rows) break;
        if ((int)(blockIdx.x * 32 + j) >= cols) continue;
        out[(size_t)(blockIdx.x * 32 + j) * rows + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][j];
    } while (left > 0);
}
