// 32 x 33 tile, 32 x 16 threads, two elements a thread. Only a clock tells: 54 % of the peak on an H100.
// expect without a model: passed, only a clock tells (54 % of an H100's peak bandwidth, 80 % are asked)
#define W 32
#define H 16
// launch: tr<<<dim3(ceil_div(cols, W), ceil_div(rows, W)), dim3(W, H)>>>(out, in, rows, cols)

__global__ void tr(float* dst, const float* src, int R, int C)
{
    __shared__ float s[W][W + 1];
    int c0 = blockIdx.x * W, r0 = blockIdx.y * W;
#pragma unroll
    for (int k = threadIdx.y; k < W; k += H)
    {
        int r = r0 + k, c = c0 + threadIdx.x;
        if (r < R && c < C) s[k][threadIdx.x] = src[(size_t) r * C + c];
    }
    __syncthreads();
#pragma unroll
    for (int k = threadIdx.y; k < W; k += H)
    {
        int r = c0 + k, c = r0 + threadIdx.x;
        if (r < C && c < R) dst[(size_t) r * R + c] = s[threadIdx.x][k];
    }
}
