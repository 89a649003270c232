// Sums of the rows of a triangle, a block per row: the work grows with the block's number.
// run: --size n=4096 --input x=normal:n,n --output y=float32:n*128
// run: --size n=8192 --input x=normal:n,n --output y=float32:n*128
// launch: triangle<<<n, 128>>>(y, x, n)

__global__ void triangle(float* y, const float* x, int n)
{
    float sum = 0;
    for (int k = threadIdx.x; k <= blockIdx.x; k += 128) sum += x[blockIdx.x * n + k];
    y[blockIdx.x * 128 + threadIdx.x] = sum;
}
