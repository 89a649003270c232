// A filter with feedback through a delay line of 512 words per thread: 2 KB of local memory each.
// run: --size n=33792 --size lag=100 --input x=normal:n --output y=float32:n
// run: --size n=270336 --size lag=300 --input x=normal:n --output y=float32:n
// launch: delay_line<<<n / 128, 128>>>(y, x, lag)

__global__ void delay_line(float* y, const float* x, int lag)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float line[512], v = x[i];
    for (int k = 0; k < 512; k++) line[k] = v;
    for (int k = 0; k < 512; k++) {
        v = 0.75f * v - 0.5f * line[(k - lag) & 511];
        line[k] = v;
    }
    y[i] = v;
}
