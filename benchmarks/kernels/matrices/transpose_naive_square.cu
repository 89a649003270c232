// A transpose with coalesced reads in blocks of 32 x 32: each warp stores down a column.
// run: --size h=1000 --size w=8192 --input x=normal:h,w --output y=float32:w,h
// run: --size h=1536 --size w=1536 --input x=normal:h,w --output y=float32:w,h
// run: --size h=4096 --size w=4096 --input x=normal:h,w --output y=float32:w,h
// run: --size h=16384 --size w=512 --input x=normal:h,w --output y=float32:w,h
// launch: transpose_naive_square<<<dim3(ceil_div(w, 32), ceil_div(h, 32)), dim3(32, 32)>>>(y, x, h, w)

__global__ void transpose_naive_square(float* y, const float* x, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < w && row < h)
        y[col * h + row] = x[row * w + col];
}
