// A convolution with 5 x 5 coefficients, read with the pixels from global memory; borders repeat.
// run: --size h=2048 --size w=2048 --input x=normal:h,w --input k=normal:25 --output y=float32:h,w
// run: --size h=4000 --size w=6000 --input x=normal:h,w --input k=normal:25 --output y=float32:h,w
// launch: convolution_5<<<dim3(ceil_div(w, 16), ceil_div(h, 16)), dim3(16, 16)>>>(y, x, k, h, w)

__global__ void convolution_5(float* y, const float* x, const float* k, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= h || col >= w)
        return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; dy++) {
        const float* line = x + min(max(row + dy, 0), h - 1) * w;
        for (int dx = -2; dx <= 2; dx++)
            sum += k[(dy + 2) * 5 + dx + 2] * line[min(max(col + dx, 0), w - 1)];
    }
    y[row * w + col] = sum;
}
