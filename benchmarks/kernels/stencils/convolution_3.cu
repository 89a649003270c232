// A convolution with 3 x 3 coefficients in constant memory, a thread per pixel.
// run: --size h=2048 --size w=2048 --input x=normal:h,w --output y=float32:h,w
// run: --size h=6000 --size w=6000 --input x=normal:h,w --output y=float32:h,w
// launch: convolution_3<<<dim3(ceil_div(w, 32), ceil_div(h, 8)), dim3(32, 8)>>>(y, x, h, w)

__constant__ float weights[3][3] = {
    {0.06f, 0.04f, 0.06f},
    {0.03f, 0.02f, 0.03f},
    {0.06f, 0.04f, 0.06f},
};

__global__ void convolution_3(float* y, const float* x, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= h || col >= w)
        return;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (row + dy >= 0 && row + dy < h && col + dx >= 0 && col + dx < w)
                sum += weights[dy + 1][dx + 1] * x[(row + dy) * w + col + dx];
    y[row * w + col] = sum;
}
