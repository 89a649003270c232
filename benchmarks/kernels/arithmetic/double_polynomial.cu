// A polynomial in double precision by Horner's rule, eight multiply-adds per round.
// run: --size n=1048576 --size rounds=8 --input x=normal:n:float64 --output y=float64:n
// run: --size n=4194304 --size rounds=16 --input x=normal:n:float64 --output y=float64:n
// launch: double_polynomial<<<n / 256, 256>>>(y, x, rounds)

__global__ void double_polynomial(double* y, const double* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double point = 0.5 * x[i];
    double value = point;
    for (int k = 0; k < rounds; k++)
#pragma unroll
        for (int power = 0; power < 8; power++)
            value = value * point + 0.125 * power;
    y[i] = value;
}
