// A launch line that is a script.
// expect points: 0
// launch: <script>alert(1)</script><<<1, 1>>>(out, in, rows, cols)
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];
}
