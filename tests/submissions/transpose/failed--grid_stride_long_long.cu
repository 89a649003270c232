// Grid-stride loop with 64-bit indices: division and remainder of long long by the runtime value rows. Reads are strided.
// expect on an emulated H200: too many points (the naive transpose takes 1.03 ms on an H200, 1.27 are modelled (on an H100 both are), and 32 % of the peak where it has 20 %: 5.5 points too many)
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
