// Loads of every second, fourth, eighth or thirty-second word.
// run: --size n=8388608 --size stride=2 --input x=normal:n*stride --output y=float32:n
// run: --size n=8388608 --size stride=4 --input x=normal:n*stride --output y=float32:n
// run: --size n=4194304 --size stride=8 --input x=normal:n*stride --output y=float32:n
// run: --size n=2097152 --size stride=32 --input x=normal:n*stride --output y=float32:n
// launch: strided_loads<<<ceil_div(n, 256), 256>>>(y, x, stride, n)

__global__ void strided_loads(float* y, const float* x, int stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * stride];
}
