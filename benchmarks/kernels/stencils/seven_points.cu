// One step of heat flow in space: seven points, read from global memory, a thread per column of
// the volume that goes through all planes with the last three values in registers.
// run: --size n=256 --input x=normal:n,n,n --output y=float32:n,n,n
// run: --size n=448 --input x=normal:n,n,n --output y=float32:n,n,n
// launch: seven_points<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(y, x, n)

__global__ void seven_points(float* y, const float* x, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const bool inside = row > 0 && row < n - 1 && col > 0 && col < n - 1;
    const int plane = n * n;
    int i = row * n + col;
    float below = 0.0f, here = x[i];
    for (int k = 0; k < n; k++, i += plane) {
        const float above = k < n - 1 ? x[i + plane] : 0.0f;
        float near = below + above;
        if (inside)
            near += x[i - 1] + x[i + 1] + x[i - n] + x[i + n];
        y[i] = here + 0.1f * (near - 6.0f * here);
        below = here;
        here = above;
    }
}
