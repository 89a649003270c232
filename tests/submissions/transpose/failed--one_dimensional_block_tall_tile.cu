// 1-D block over a tile of 96 rows by 32 columns, / and % by 96. Only a clock tells: 79 % of the peak on an H100.
// expect without a model: passed, only a clock tells (79 % of an H100's peak bandwidth, 80 % are asked)
// expect with a model: passed, too close to call
// 96 is a multiple of 32, so a warp of the second loop stays in one column of the tile: 32 banks.
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
