// The Mandelbrot set: each pixel iterates until it escapes, at most 256 times; neighbours in a
// warp stop at different times.
// run: --size h=1024 --size w=1024 --output y=int32:h,w
// run: --size h=2048 --size w=4096 --output y=int32:h,w
// launch: mandelbrot<<<dim3(ceil_div(w, 32), ceil_div(h, 8)), dim3(32, 8)>>>(y, h, w)

__global__ void mandelbrot(int* y, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= h || col >= w)
        return;
    const float cr = 3.0f * col / w - 2.0f, ci = 2.5f * row / h - 1.25f;
    float re = 0.0f, im = 0.0f;
    int steps = 0;
    while (steps < 256 && re * re + im * im < 4.0f) {
        const float next = re * re - im * im + cr;
        im = 2.0f * re * im + ci;
        re = next;
        steps++;
    }
    y[row * w + col] = steps;
}
