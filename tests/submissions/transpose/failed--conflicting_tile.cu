// The textbook tile without padding, 32 x 32 threads: each read of a column takes 32 wavefronts. On a GPU: bandwidth is partial.
#include <cuda_runtime.h>
#define TILE_DIM 32

// launch: transposeCoalesced<<<dim3(ceil_div(cols, TILE_DIM), ceil_div(rows, TILE_DIM)), dim3(TILE_DIM, TILE_DIM)>>>(out, in, cols, rows)
__global__ void transposeCoalesced(float *odata, const float *idata, int width, int height)
{
  __shared__ float tile[TILE_DIM][TILE_DIM];

  int xIndex = blockIdx.x * TILE_DIM + threadIdx.x;
  int yIndex = blockIdx.y * TILE_DIM + threadIdx.y;
  if (xIndex < width && yIndex < height)
    tile[threadIdx.y][threadIdx.x] = idata[yIndex * width + xIndex];

  __syncthreads();

  xIndex = blockIdx.y * TILE_DIM + threadIdx.x;
  yIndex = blockIdx.x * TILE_DIM + threadIdx.y;
  if (xIndex < height && yIndex < width)
    odata[yIndex * height + xIndex] = tile[threadIdx.x][threadIdx.y];
}
