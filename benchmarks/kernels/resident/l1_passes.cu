// A block reads 16 KB or 64 KB again and again: hits in the L1, one line a warp's load.
// run: --size n=4096 --size passes=64 --input x=normal:132*n --output y=float32:132*1024
// run: --size n=16384 --size passes=64 --input x=normal:132*n --output y=float32:132*1024
// launch: l1_passes<<<132, 1024>>>(y, x, n, passes)

__global__ void l1_passes(float* y, const float* x, int n, int passes)
{
    const float* own = x + blockIdx.x * n;
    float sum = 0;
    for (int pass = 0; pass < passes; pass++)
        for (int k = 0; k < n; k += 1024) sum += own[(k + 32 * pass + threadIdx.x) & (n - 1)];
    y[blockIdx.x * 1024 + threadIdx.x] = sum;
}
