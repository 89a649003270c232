// Grid-stride loop with 64-bit indices: division and remainder of long long by the runtime value rows. Reads are strided.
// launch: transpose_ll<<<512, 256>>>(out, in, rows, cols)
__global__ void transpose_ll(float* out, const float* in, long long rows, long long cols)
{
    const long long total = rows * cols;
    const long long stride = (long long)gridDim.x * blockDim.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    while (i < total) {
        const long long c = i / rows;
        const long long r = i % rows;
        out[i] = in[r * cols + c];
        i += stride;
    }
}
