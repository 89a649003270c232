constexpr unsigned SIDE = 32, DEPTH = 4;
// launch: turn<<<dim3(ceil_div(rows, SIDE), ceil_div(cols, SIDE)), dim3(SIDE, DEPTH)>>>(out, in, rows, cols)
__global__ void turn(float* out, const float* in, unsigned rows, unsigned cols)
{
    __shared__ float t[SIDE * (SIDE + 1)];
    const unsigned r0 = blockIdx.x * SIDE, c0 = blockIdx.y * SIDE;
    for (unsigned i = threadIdx.y; i < SIDE; i += DEPTH) {
        const unsigned r = r0 + i, c = c0 + threadIdx.x;
        if (r >= rows || c >= cols) continue;
        t[threadIdx.x * (SIDE + 1) + i] = in[size_t(r) * cols + c];
    }
    __syncthreads();
    for (unsigned i = threadIdx.y; i < SIDE; i += DEPTH) {
        const unsigned r = c0 + i, c = r0 + threadIdx.x;
        if (r >= cols || c >= rows) continue;
        out[size_t(r) * rows + c] = t[i * (SIDE + 1) + threadIdx.x];
    }
}
