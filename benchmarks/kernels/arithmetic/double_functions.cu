// Exponentials, square roots and divisions in double precision.
// run: --size n=1048576 --size rounds=4 --input x=normal:n:float64 --output y=float64:n
// run: --size n=4194304 --size rounds=8 --input x=normal:n:float64 --output y=float64:n
// launch: double_functions<<<n / 256, 256>>>(y, x, rounds)

__global__ void double_functions(double* y, const double* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double value = fabs(x[i]);
    for (int k = 0; k < rounds; k++)
        value = sqrt(1.0 + exp(-value * value)) / (2.0 + value);
    y[i] = value;
}
