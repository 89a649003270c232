// Follows a pointer that nobody set: a __device__ variable in place of a scratch buffer.
__device__ float* workspace;
// launch: t<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void t(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int y = blockIdx.y * 32 + threadIdx.y; y < min(rows, (int)(blockIdx.y + 1) * 32); y += 8)
        if (x < cols) {
            workspace[x * rows + y] = in[y * cols + x];
            out[x * rows + y] = workspace[x * rows + y];
        }
}
