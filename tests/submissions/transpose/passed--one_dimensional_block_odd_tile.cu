// 1-D block over a tile of 24 rows by 48 columns, / and % by constants that are no powers of two. On a GPU: bandwidth perhaps partial.
// The tile's row is 49 words. A warp of the store loop may span two columns of the tile: still 32 banks where no words collide.
#define TW 32
#define TH 96
// launch: odd<<<dim3(ceil_div(cols, TW), ceil_div(rows, TH)), 384>>>(out, in, rows, cols)
__global__ void odd(float* out, const float* in, int rows, int cols)
{
    __shared__ float s[TH * (TW + 1)];
    const int tid = threadIdx.x;
    for (int e = tid; e < TW * TH; e += 384)
    {
        const int i = e / TW, j = e - i * TW;
        const int r = blockIdx.y * TH + i, c = blockIdx.x * TW + j;
        if (r < rows && c < cols) s[i * (TW + 1) + j] = in[r * cols + c];
    }
    __syncthreads();
    for (int e = tid; e < TW * TH; e += 384)
    {
        const int j = e / TH, i = e % TH;
        const int r = blockIdx.y * TH + i, c = blockIdx.x * TW + j;
        if (r < rows && c < cols) out[c * rows + r] = s[i * (TW + 1) + j];
    }
}
