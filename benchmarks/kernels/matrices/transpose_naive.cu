// A transpose with coalesced reads: each warp stores down a column.
// run: --size h=2048 --size w=3072 --input x=normal:h,w --output y=float32:w,h
// run: --size h=8192 --size w=6144 --input x=normal:h,w --output y=float32:w,h
// launch: transpose_naive<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(y, x, h, w)

__global__ void transpose_naive(float* y, const float* x, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    y[col * h + row] = x[row * w + col];
}
