// The mean of 3 neighbours on a line, each read from global memory: they meet in the L1.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: mean<<<ceil_div(n, 256), 256>>>(y, x, n)

#define RADIUS 1

__global__ void mean(float* y, const float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += x[min(max(i + k, 0), n - 1)];
    y[i] = sum / (2 * RADIUS + 1);
}
