// One step of heat flow on a plane: five points, each read from global memory.
// run: --size h=2048 --size w=2048 --input x=normal:h,w --output y=float32:h,w
// run: --size h=6000 --size w=6000 --input x=normal:h,w --output y=float32:h,w
// launch: five_points<<<dim3(ceil_div(w, 32), ceil_div(h, 8)), dim3(32, 8)>>>(y, x, h, w)

__global__ void five_points(float* y, const float* x, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= h || col >= w)
        return;
    const int i = row * w + col;
    float value = x[i];
    if (row > 0 && row < h - 1 && col > 0 && col < w - 1)
        value += 0.2f * (x[i - 1] + x[i + 1] + x[i - w] + x[i + w] - 4.0f * value);
    y[i] = value;
}
