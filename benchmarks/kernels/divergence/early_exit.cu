// Three threads in four have nothing to do and leave at once; the others make `rounds` rounds.
// run: --size n=1048576 --size rounds=64 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --size rounds=128 --input x=normal:n --output y=float32:n
// launch: early_exit<<<n / 256, 256>>>(y, x, rounds)

__global__ void early_exit(float* y, const float* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float first = x[i];
    if (first < 0.6745f) {
        y[i] = 0.0f;
        return;
    }
    float value = first;
    for (int k = 0; k < rounds; k++)
        value = value * 0.98f + first;
    y[i] = value;
}
