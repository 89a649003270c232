// All blocks walk the same words, which were not read before: each step of all waits for DRAM.
// run: --size n=262144 --size step=16 --input x=index:n --output y=float32:132*32
// run: --size n=262144 --size step=256 --input x=index:n --output y=float32:132*32
// launch: walk_together<<<132, 32>>>(y, x, n, step)

__global__ void walk_together(float* y, const float* x, int n, int step)
{
    float sum = 0.0f;
    int at = 0;
#pragma unroll 1
    while (at < n) {
        const float word = x[at];
        sum += word;
        at += word >= 0.0f ? step : 1;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
