// A transpose by padded tiles in shared memory, without bank conflicts.
// run: --size h=2048 --size w=3072 --input x=normal:h,w --output y=float32:w,h
// run: --size h=8192 --size w=6144 --input x=normal:h,w --output y=float32:w,h
// launch: transpose_padded<<<dim3(w / 32, h / 32), dim3(32, 8)>>>(y, x, h, w)

#define TILE 32
#define ROWS 8

__global__ void transpose_padded(float* y, const float* x, int h, int w)
{
    __shared__ float tile[TILE][TILE + 1];
    const int tx = threadIdx.x, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    for (int k = threadIdx.y; k < TILE; k += ROWS)
        tile[k][tx] = x[(top + k) * w + left + tx];
    __syncthreads();
    for (int k = threadIdx.y; k < TILE; k += ROWS)
        y[(left + k) * h + top + tx] = tile[tx][k];
}
