// Half the size: out[y][x] is the mean of four pixels of the picture, which is a texture object.
//
// halve_naive is the baseline, halve is yours.

#define SIDE 16

// launch: halve<<<dim3(ceil_div(cols, SIDE), ceil_div(rows, SIDE)), dim3(SIDE, SIDE)>>>(out, picture, rows, cols)

__global__ void halve_naive(float* out, cudaTextureObject_t picture, int rows, int cols)
{
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (x >= cols || y >= rows)
        return;
    float sum = 0;
    for (int dy = 0; dy < 2; ++dy)
        for (int dx = 0; dx < 2; ++dx)
            sum += tex2D<float>(picture, 2 * x + dx + 0.5f, 2 * y + dy + 0.5f);
    out[y * cols + x] = sum / 4;
}

// Yours.
__global__ void halve(float* out, cudaTextureObject_t picture, int rows, int cols)
{
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (x >= cols || y >= rows)
        return;
    out[y * cols + x] = tex2D<float>(picture, 2 * x + 0.5f, 2 * y + 0.5f);
}
