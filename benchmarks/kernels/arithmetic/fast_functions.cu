// A chain of the fast special functions, a few instructions each.
// run: --size n=1048576 --size rounds=16 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size rounds=64 --input x=normal:n --output y=float32:n
// launch: fast_functions<<<n / 256, 256>>>(y, x, rounds)

__global__ void fast_functions(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    for (int k = 0; k < rounds; k++)
        value = __sinf(value) + __expf(-value * value) + __logf(1.5f + value * value);
    y[i] = value;
}
