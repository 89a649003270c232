// Copies the lower triangle of a matrix and writes zeros above it, with half of the threads of a
// diagonal warp doing either.
// run: --size n=2048 --input A=normal:n,n --output L=float32:n,n
// run: --size n=8192 --input A=normal:n,n --output L=float32:n,n
// launch: lower_triangle<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(L, A, n)

__global__ void lower_triangle(float* L, const float* A, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    L[row * n + col] = col <= row ? A[row * n + col] : 0.0f;
}
