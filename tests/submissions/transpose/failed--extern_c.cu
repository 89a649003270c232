// C linkage, pointers that walk instead of indices. Only a clock tells: 67 % of the peak on an H100.
// expect without a model: passed, only a clock tells (67 % of an H100's peak bandwidth, 80 % are asked)
#define TILE 32
#define ROWS 8
#ifdef __cplusplus
extern "C" {
#endif
// launch: transpose_c<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)
__global__ void transpose_c(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE * (TILE + 1)];
    float *mine = tile + threadIdx.y * (TILE + 1) + threadIdx.x;
    int left = blockIdx.x * TILE, top = blockIdx.y * TILE, n;

    in += (size_t)(top + threadIdx.y) * cols + left + threadIdx.x;
    for (n = top + threadIdx.y; n < rows && n < top + TILE; n += ROWS, in += (size_t)ROWS * cols, mine += ROWS * (TILE + 1))
        if (left + threadIdx.x < cols) *mine = *in;
    __syncthreads();
    mine = tile + threadIdx.x * (TILE + 1) + threadIdx.y;
    out += (size_t)(left + threadIdx.y) * rows + top + threadIdx.x;
    for (n = left + threadIdx.y; n < cols && n < left + TILE; n += ROWS, out += (size_t)ROWS * rows, mine += ROWS)
        if (top + threadIdx.x < rows) *out = *mine;
}
#ifdef __cplusplus
}
#endif
