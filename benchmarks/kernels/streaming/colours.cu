// Three neighbouring words per thread, read and written: an image of red, green and blue pixels.
// run: --size n=2097152 --input x=normal:3*n --output y=float32:3*n
// run: --size n=16777216 --input x=normal:3*n --output y=float32:3*n
// launch: colours<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void colours(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float red = x[3 * i], green = x[3 * i + 1], blue = x[3 * i + 2];
    float grey = 0.299f * red + 0.587f * green + 0.114f * blue;
    y[3 * i] = 0.5f * (red + grey);
    y[3 * i + 1] = 0.5f * (green + grey);
    y[3 * i + 2] = 0.5f * (blue + grey);
}
