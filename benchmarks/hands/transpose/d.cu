#define N_TILE 16
// launch: mtrans<<<dim3(ceil_div(cols, N_TILE), ceil_div(rows, N_TILE)), dim3(N_TILE, N_TILE)>>>(out, in, rows, cols)
__global__ void mtrans(float* B, const float* A, int m, int n)
{
    __shared__ float S[N_TILE][N_TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int bx = blockIdx.x * N_TILE, by = blockIdx.y * N_TILE;
    const bool full = bx + N_TILE <= n && by + N_TILE <= m;
    if (full) {
        S[ty][tx] = A[(by + ty) * n + bx + tx];
        __syncthreads();
        B[(bx + ty) * m + by + tx] = S[tx][ty];
    } else {
        if (by + ty < m && bx + tx < n) S[ty][tx] = A[(by + ty) * n + bx + tx];
        __syncthreads();
        if (bx + ty < n && by + tx < m) B[(bx + ty) * m + by + tx] = S[tx][ty];
    }
}
