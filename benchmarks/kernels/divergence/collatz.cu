// Steps until a number comes down to 1 by halving or 3 x + 1: loops of unknown length, with a
// branch each round.
// run: --size n=1048576 --output y=int32:n
// run: --size n=8388608 --output y=int32:n
// launch: collatz<<<n / 256, 256>>>(y)

__global__ void collatz(int* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long value = i + 1;
    int steps = 0;
    while (value != 1) {
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        steps++;
    }
    y[i] = steps;
}
