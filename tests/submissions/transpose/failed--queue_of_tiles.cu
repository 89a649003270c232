// Persistent blocks that take tiles from a counter in scratch with atomicAdd. Only a clock tells: 64 % of the peak on an H100.
// expect without a model: passed, only a clock tells (64 % of an H100's peak bandwidth, 80 % are asked)
// scratch: unsigned int counter[1]
// launch: clear<<<1, 1>>>(counter)
// launch: queue<<<528, dim3(32, 8)>>>(out, in, counter, rows, cols)
__global__ void clear(unsigned int* counter) { *counter = 0; }

__global__ void queue(float* out, const float* in, unsigned int* counter, int rows, int cols)
{
    __shared__ float tile[32][33];
    __shared__ unsigned int next;
    const unsigned int across = (cols + 31) / 32, all = across * ((rows + 31) / 32);
    while (true) {
        if (threadIdx.x == 0 && threadIdx.y == 0) next = atomicAdd(counter, 1u);
        __syncthreads();
        const unsigned int t = next;
        if (t >= all) break;
        const int left = t % across * 32, top = t / across * 32;
        for (int j = threadIdx.y; j < 32; j += 8)
            if (left + threadIdx.x < cols && top + j < rows) tile[j][threadIdx.x] = in[(top + j) * cols + left + threadIdx.x];
        __syncthreads();
        for (int j = threadIdx.y; j < 32; j += 8)
            if (top + threadIdx.x < rows && left + j < cols) out[(left + j) * rows + top + threadIdx.x] = tile[threadIdx.x][j];
        __syncthreads();
    }
}
