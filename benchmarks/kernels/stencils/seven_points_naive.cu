// One step of heat flow in space: seven points, each read from global memory, a thread per point.
// run: --size n=256 --input x=normal:n,n,n --output y=float32:n,n,n
// run: --size n=448 --input x=normal:n,n,n --output y=float32:n,n,n
// launch: seven_points_naive<<<dim3(n / 32, n / 4, n / 2), dim3(32, 4, 2)>>>(y, x, n)

__global__ void seven_points_naive(float* y, const float* x, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int level = blockIdx.z * blockDim.z + threadIdx.z;
    const int plane = n * n, i = level * plane + row * n + col;
    float near = 0.0f;
    if (col > 0)
        near += x[i - 1];
    if (col < n - 1)
        near += x[i + 1];
    if (row > 0)
        near += x[i - n];
    if (row < n - 1)
        near += x[i + n];
    if (level > 0)
        near += x[i - plane];
    if (level < n - 1)
        near += x[i + plane];
    y[i] = x[i] + 0.1f * (near - 6.0f * x[i]);
}
