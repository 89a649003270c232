// Edges of a grey picture after Sobel, with a halo in shared memory.
// run: --size width=2048 --size height=1024 --input image=index:height,width:uint8 --output edges=uint8:height,width
// run: --size width=8192 --size height=4096 --input image=index:height,width:uint8 --output edges=uint8:height,width
#define SIDE 16
// launch: sobel<<<dim3(ceil_div(width, SIDE), ceil_div(height, SIDE)), dim3(SIDE, SIDE)>>>(image, edges, width, height)

__device__ int clamped(int value, int limit) { return max(0, min(value, limit - 1)); }

__global__ void sobel(const unsigned char* image, unsigned char* edges, int width, int height) {
  __shared__ int t[SIDE + 2][SIDE + 2];
  for (int i = threadIdx.y * SIDE + threadIdx.x; i < (SIDE + 2) * (SIDE + 2); i += SIDE * SIDE) {
    int r = i / (SIDE + 2), c = i % (SIDE + 2);
    int y = clamped((int)blockIdx.y * SIDE + r - 1, height);
    int x = clamped((int)blockIdx.x * SIDE + c - 1, width);
    t[r][c] = image[y * width + x];
  }
  __syncthreads();
  int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  if (x >= width || y >= height) return;
  int r = threadIdx.y + 1, c = threadIdx.x + 1;
  int gx = t[r - 1][c + 1] + 2 * t[r][c + 1] + t[r + 1][c + 1] -
           (t[r - 1][c - 1] + 2 * t[r][c - 1] + t[r + 1][c - 1]);
  int gy = t[r + 1][c - 1] + 2 * t[r + 1][c] + t[r + 1][c + 1] -
           (t[r - 1][c - 1] + 2 * t[r - 1][c] + t[r - 1][c + 1]);
  edges[y * width + x] = min(255, __float2int_rn(sqrtf((float)(gx * gx + gy * gy))));
}
