// Half the size: the filter blends the four pixels around a corner.

#define SIDE 16

// launch: halve<<<dim3(ceil_div(cols, SIDE), ceil_div(rows, SIDE)), dim3(SIDE, SIDE)>>>(out, picture, rows, cols)

__global__ void halve(float* out, cudaTextureObject_t picture, int rows, int cols)
{
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (x >= cols || y >= rows)
        return;
    out[y * cols + x] = tex2D<float>(picture, 2 * x + 1.0f, 2 * y + 1.0f);
}
