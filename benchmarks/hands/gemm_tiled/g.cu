// launch: tiled<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 32)>>>(C, A, B, M, K, N)
#define T 32
__global__ void tiled(float *out, const float *lhs, const float *rhs, int height, int depth, int width)
{
    __shared__ float l[T][T];
    __shared__ float r[T][T];
    int gx = blockIdx.x * blockDim.x + threadIdx.x;
    int gy = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0.0;
    int i;
    for (i = 0; i < depth; i = i + T)
    {
        if (gy < height)
        {
            if (i + threadIdx.x < depth) l[threadIdx.y][threadIdx.x] = lhs[gy * depth + i + threadIdx.x];
            else l[threadIdx.y][threadIdx.x] = 0.0;
        }
        if (gx < width)
        {
            if (i + threadIdx.y < depth) r[threadIdx.y][threadIdx.x] = rhs[(i + threadIdx.y) * width + gx];
            else r[threadIdx.y][threadIdx.x] = 0.0;
        }
        __syncthreads();
        int j;
        for (j = 0; j < T; j = j + 1)
        {
            s = s + l[threadIdx.y][j] * r[j][threadIdx.x];
        }
        __syncthreads();
    }
    if (gy < height && gx < width)
    {
        out[gy * width + gx] = s;
    }
}
