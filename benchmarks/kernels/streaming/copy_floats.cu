// A copy of one float per thread: a warp moves a line each way.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --input x=normal:n --output y=float32:n
// run: --size n=67108864 --input x=normal:n --output y=float32:n
// launch: copy_floats<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void copy_floats(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
