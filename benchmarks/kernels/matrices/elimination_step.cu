// A step of LU decomposition: multiples of row `step` are taken from all rows below it.
// run: --size n=2048 --size step=64 --output A=normal:n,n
// run: --size n=8192 --size step=1000 --output A=normal:n,n
// launch: elimination_step<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(A, n, step)

__global__ void elimination_step(float* A, int n, int step)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row > step && row < n && col > step && col < n) {
        const float factor = A[row * n + step] / (A[step * n + step] + 10.0f);
        A[row * n + col] -= factor * A[step * n + col];
    }
}
