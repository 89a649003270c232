// A blur of 9 x 9 pixels in two launches: along rows into scratch memory, then along columns.
// run: --size h=2048 --size w=2048 --input x=normal:h,w --output y=float32:h,w
// run: --size h=4096 --size w=4096 --input x=normal:h,w --output y=float32:h,w
// scratch: float between[h * w]
// launch: along_rows<<<dim3(w / 256, h), 256>>>(between, x, w)
// launch: along_columns<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(y, between, h, w)

#define RADIUS 4

__constant__ float weights[2 * RADIUS + 1] = {
    0.02f, 0.05f, 0.12f, 0.2f, 0.22f, 0.2f, 0.12f, 0.05f, 0.02f,
};

__global__ void along_rows(float* y, const float* x, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const float* line = x + blockIdx.y * w;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] * line[min(max(col + k, 0), w - 1)];
    y[blockIdx.y * w + col] = sum;
}

__global__ void along_columns(float* y, const float* x, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] * x[min(max(row + k, 0), h - 1) * w + col];
    y[row * w + col] = sum;
}
