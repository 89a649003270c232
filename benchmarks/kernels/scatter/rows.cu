// Rows of 32 floats stored to places that an array lists, a warp per row: whole lines.
// run: --size n=65536 --input list=permutation:n --input x=normal:n,32 --output y=float32:n,32
// run: --size n=1048576 --input list=permutation:n --input x=normal:n,32 --output y=float32:n,32
// launch: rows<<<n / 8, dim3(32, 8)>>>(y, x, list)

__global__ void rows(float* y, const float* x, const int* list)
{
    int row = blockIdx.x * 8 + threadIdx.y;
    y[list[row] * 32 + threadIdx.x] = x[row * 32 + threadIdx.x];
}
