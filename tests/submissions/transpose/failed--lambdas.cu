// Lambdas in device code: one for guarded reads, one handed to a helper template. Only a clock tells: 64 % of the peak on an H100.
// expect without a model: passed, only a clock tells (64 % of an H100's peak bandwidth, 80 % are asked)
// launch: transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
template <class F>
__device__ void each_row(F&& body)
{
    for (int j = threadIdx.y; j < 32; j += blockDim.y) body(j);
}

__global__ void transpose(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const auto index = [](int row, int col, int width) { return (size_t)row * width + col; };
    const int left = 32 * blockIdx.x, top = 32 * blockIdx.y, lane = threadIdx.x;

    each_row([&](int j) {
        if (top + j < rows && left + lane < cols) tile[j][lane] = in[index(top + j, left + lane, cols)];
    });
    __syncthreads();
    each_row([=](int j) {
        if (left + j < cols && top + lane < rows) out[index(left + j, top + lane, rows)] = tile[lane][j];
    });
}
