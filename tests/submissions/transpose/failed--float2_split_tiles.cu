// float2 reads, even and odd columns in two padded tiles of their own: no conflicts. Only a clock tells: 77 % of the peak on an H100.
// expect without a model: passed, only a clock tells (77 % of an H100's peak bandwidth, 80 % are asked)
// launch: transpose_f2<<<dim3(ceil_div(cols, 64), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
struct Halves {
    float even[32][33];
    float odd[32][33];
};

__device__ __forceinline__ float2 fetch(const float* in, int y, int x, int rows, int cols)
{
    float2 r = make_float2(0.f, 0.f);
    if (y >= rows) return r;
    const float* p = in + (long)y * cols + x;
    if ((cols & 1) == 0) {
        if (x < cols) r = *reinterpret_cast<const float2*>(p);
    } else {
        if (x < cols)     r.x = p[0];
        if (x + 1 < cols) r.y = p[1];
    }
    return r;
}

__global__ void transpose_f2(float* out, const float* in, int rows, int cols)
{
    __shared__ Halves s;
    const int tx = threadIdx.x;
#pragma unroll
    for (int y = threadIdx.y; y < 32; y += 8) {
        float2 v = fetch(in, blockIdx.y * 32 + y, blockIdx.x * 64 + 2 * tx, rows, cols);
        s.even[y][tx] = v.x;
        s.odd[y][tx] = v.y;
    }
    __syncthreads();
    const int r = blockIdx.y * 32 + tx;
#pragma unroll
    for (int c = threadIdx.y; c < 32; c += 8) {
        int col = blockIdx.x * 64 + 2 * c;
        if (r < rows && col < cols)     out[(long)col * rows + r]       = s.even[tx][c];
        if (r < rows && col + 1 < cols) out[(long)(col + 1) * rows + r] = s.odd[tx][c];
    }
}
