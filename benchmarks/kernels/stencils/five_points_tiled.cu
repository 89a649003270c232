// One step of heat flow on a plane: a block of 32 x 16 reads its tile and the halo into shared
// memory.
// run: --size h=2048 --size w=2048 --input x=normal:h,w --output y=float32:h,w
// run: --size h=6016 --size w=6016 --input x=normal:h,w --output y=float32:h,w
// launch: five_points_tiled<<<dim3(w / 32, h / 16), dim3(32, 16)>>>(y, x, h, w)

#define WIDTH 32
#define HEIGHT 16

__global__ void five_points_tiled(float* y, const float* x, int h, int w)
{
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int col = blockIdx.x * WIDTH + threadIdx.x, row = blockIdx.y * HEIGHT + threadIdx.y;
    const int i = row * w + col;
    tile[ty][tx] = x[i];
    if (tx == 1)
        tile[ty][0] = col > 0 ? x[i - 1] : 0.0f;
    if (tx == WIDTH)
        tile[ty][WIDTH + 1] = col < w - 1 ? x[i + 1] : 0.0f;
    if (ty == 1)
        tile[0][tx] = row > 0 ? x[i - w] : 0.0f;
    if (ty == HEIGHT)
        tile[HEIGHT + 1][tx] = row < h - 1 ? x[i + w] : 0.0f;
    __syncthreads();
    const float near = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
    y[i] = tile[ty][tx] + 0.2f * (near - 4.0f * tile[ty][tx]);
}
