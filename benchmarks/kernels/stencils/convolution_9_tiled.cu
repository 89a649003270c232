// A convolution with 9 x 9 coefficients in constant memory, of a tile with its halo in shared
// memory.
// run: --size h=1024 --size w=1024 --input x=normal:h,w --output y=float32:h,w
// run: --size h=4096 --size w=4096 --input x=normal:h,w --output y=float32:h,w
// launch: convolution_9_tiled<<<dim3(w / 32, h / 16), dim3(32, 16)>>>(y, x, h, w)

#define RADIUS 4
#define SIDE (2 * RADIUS + 1)
#define WIDTH 32
#define HEIGHT 16

__constant__ float weights[SIDE][SIDE] = {
    {0.30f, 0.25f, 0.20f, 0.15f, 0.10f, 0.15f, 0.20f, 0.25f, 0.30f},
    {0.24f, 0.20f, 0.16f, 0.12f, 0.08f, 0.12f, 0.16f, 0.20f, 0.24f},
    {0.18f, 0.15f, 0.12f, 0.09f, 0.06f, 0.09f, 0.12f, 0.15f, 0.18f},
    {0.12f, 0.10f, 0.08f, 0.06f, 0.04f, 0.06f, 0.08f, 0.10f, 0.12f},
    {0.06f, 0.05f, 0.04f, 0.03f, 0.02f, 0.03f, 0.04f, 0.05f, 0.06f},
    {0.12f, 0.10f, 0.08f, 0.06f, 0.04f, 0.06f, 0.08f, 0.10f, 0.12f},
    {0.18f, 0.15f, 0.12f, 0.09f, 0.06f, 0.09f, 0.12f, 0.15f, 0.18f},
    {0.24f, 0.20f, 0.16f, 0.12f, 0.08f, 0.12f, 0.16f, 0.20f, 0.24f},
    {0.30f, 0.25f, 0.20f, 0.15f, 0.10f, 0.15f, 0.20f, 0.25f, 0.30f},
};

__global__ void convolution_9_tiled(float* y, const float* x, int h, int w)
{
    __shared__ float tile[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
    const int left = blockIdx.x * WIDTH - RADIUS, top = blockIdx.y * HEIGHT - RADIUS;
    for (int ty = threadIdx.y; ty < HEIGHT + 2 * RADIUS; ty += HEIGHT)
        for (int tx = threadIdx.x; tx < WIDTH + 2 * RADIUS; tx += WIDTH)
            tile[ty][tx] = x[min(max(top + ty, 0), h - 1) * w + min(max(left + tx, 0), w - 1)];
    __syncthreads();
    float sum = 0.0f;
    for (int dy = 0; dy < SIDE; dy++)
        for (int dx = 0; dx < SIDE; dx++)
            sum += weights[dy][dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    y[(blockIdx.y * HEIGHT + threadIdx.y) * w + blockIdx.x * WIDTH + threadIdx.x] = sum;
}
