// Dynamic shared memory with a padded pitch, given as the third chevron argument. Only a clock tells: 65 % of the peak on an H100.
// expect without a model: passed, only a clock tells (65 % of an H100's peak bandwidth, 80 % are asked)
#define T 32
#define PITCH (T + 1)
// launch: transpose_dyn<<<dim3(ceil_div(cols, T), ceil_div(rows, T)), dim3(T, 8), T * PITCH * 4>>>(out, in, rows, cols)
extern __shared__ float smem[];

__global__ void transpose_dyn(float *out, const float *in, int rows, int cols)
{
    int x = blockIdx.x * T + threadIdx.x;
    int y = blockIdx.y * T + threadIdx.y;

    for (int j = 0; j < T; j += blockDim.y)
        if (x < cols && (y + j) < rows)
            smem[(threadIdx.y + j) * PITCH + threadIdx.x] = in[(y + j) * cols + x];

    __syncthreads();

    x = blockIdx.y * T + threadIdx.x;
    y = blockIdx.x * T + threadIdx.y;

    for (int j = 0; j < T; j += blockDim.y)
        if (x < rows && (y + j) < cols)
            out[(y + j) * rows + x] = smem[threadIdx.x * PITCH + threadIdx.y + j];
}
