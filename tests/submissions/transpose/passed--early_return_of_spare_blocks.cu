// A grid that is too large; blocks outside return before any barrier. Full marks expected on a GPU.
// launch: k<<<dim3(cols / 32 + 2, rows / 32 + 2), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void k(float* out, const float* in, int rows, int cols) {
    __shared__ float t[32][33];
    const int bx = blockIdx.x * 32, by = blockIdx.y * 32;
    if (bx >= cols || by >= rows) return;
    const bool inner = bx + 32 <= cols && by + 32 <= rows;
    if (inner) {
        for (int j = threadIdx.y; j < 32; j += 8) t[j][threadIdx.x] = in[(by + j) * cols + bx + threadIdx.x];
    } else {
        for (int j = threadIdx.y; j < 32; j += 8)
            if (by + j < rows && bx + threadIdx.x < cols) t[j][threadIdx.x] = in[(by + j) * cols + bx + threadIdx.x];
    }
    __syncthreads();
    if (inner) {
        for (int j = threadIdx.y; j < 32; j += 8) out[(bx + j) * rows + by + threadIdx.x] = t[threadIdx.x][j];
        return;
    }
    for (int j = threadIdx.y; j < 32; j += 8)
        if (bx + j < cols && by + threadIdx.x < rows) out[(bx + j) * rows + by + threadIdx.x] = t[threadIdx.x][j];
}
