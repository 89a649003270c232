// A transpose with coalesced stores: each warp reads down a column.
// run: --size h=2048 --size w=3072 --input x=normal:h,w --output y=float32:w,h
// run: --size h=8192 --size w=6144 --input x=normal:h,w --output y=float32:w,h
// launch: transpose_reads<<<dim3(h / 32, w / 8), dim3(32, 8)>>>(y, x, h, w)

__global__ void transpose_reads(float* y, const float* x, int h, int w)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    y[col * h + row] = x[row * w + col];
}
