// Two kernels: what the first one writes, the second one reads, from the L2 as far as it is there.
// run: --size n=1048576 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// scratch: float squares[n]
// launch: square<<<n / 256, 256>>>(squares, x)
// launch: smooth<<<n / 256, 256>>>(y, squares, n)

__global__ void square(float* squares, const float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    squares[i] = x[i] * x[i];
}

__global__ void smooth(float* y, const float* squares, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 0.5f * (squares[i] + squares[n - 1 - i]);
}
