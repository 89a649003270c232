// Four kernels of a few microseconds, one behind the other: beginning and ending is most of it.
// run: --size n=65536 --input x=normal:n --output y=float32:n
// run: --size n=1048576 --input x=normal:n --output y=float32:n
// scratch: float a[n]
// scratch: float b[n]
// launch: short_launches<<<n / 256, 256>>>(a, x)
// launch: short_launches<<<n / 256, 256>>>(b, a)
// launch: short_launches<<<n / 256, 256>>>(a, b)
// launch: short_launches<<<n / 256, 256>>>(y, a)

__global__ void short_launches(float* y, const float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 0.5f * x[i] + 1.0f;
}
