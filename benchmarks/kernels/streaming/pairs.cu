// Two neighbouring words per thread, one at a time: two stores of a warp complete each sector.
// run: --size n=4194304 --input x=normal:n --output y=float32:2*n
// run: --size n=33554432 --input x=normal:n --output y=float32:2*n
// launch: pairs<<<ceil_div(n, 256), 256>>>(y, x, n)

__global__ void pairs(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[2 * i] = v + 1.0f;
    y[2 * i + 1] = v - 1.0f;
}
