// The tile's columns are permuted by one of eight rules, picked by a switch on the block. Only a clock tells: 68 % of the peak on an H100.
// expect without a model: passed, only a clock tells (68 % of an H100's peak bandwidth, 80 % are asked)
// launch: permuted<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__device__ int rule(int which, int i)
{
    switch (which) {
    case 0: return i;
    case 1: return i ^ 31;
    case 2: return (i * 5) & 31;
    case 3: return (i + 7) & 31;
    case 4: return __brev(i) >> 27;
    case 5: return (i * 13 + 3) & 31;
    case 6: return __byte_perm(i, 0, 0x4440) ^ 9;
    default: return ((i << 1) | (i >> 4)) & 31;
    }
}

__global__ void permuted(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int which = (blockIdx.x + blockIdx.y) % 8;
    const int x = blockIdx.x * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (x < cols && blockIdx.y * 32 + j < rows)
            tile[j][rule(which, threadIdx.x)] = in[(blockIdx.y * 32 + j) * cols + x];
    __syncthreads();
    const int u = blockIdx.y * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (u < rows && blockIdx.x * 32 + j < cols)
            out[(blockIdx.x * 32 + j) * rows + u] = tile[threadIdx.x][rule(which, j)];
}
