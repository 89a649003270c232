// A stencil along columns that prefetches the row 8 below, into the L2 or the L1.
// run: --size n=2048 --size l1=0 --input x=normal:n,n --output y=float32:n,n
// run: --size n=2048 --size l1=1 --input x=normal:n,n --output y=float32:n,n
// run: --size n=4096 --size l1=0 --input x=normal:n,n --output y=float32:n,n
// launch: stencil_prefetching<<<dim3(n / 256, n / 64), 256>>>(y, x, n, l1)

__global__ void stencil_prefetching(float* y, const float* x, int n, int l1)
{
    int col = blockIdx.x * 256 + threadIdx.x, top = blockIdx.y * 64;
    float above = x[top * n + col], here = above;
    for (int row = top; row < top + 64; row++) {
        const float* far = x + min(row + 8, n - 1) * n + col;
        if (l1)
            asm volatile("prefetch.global.L1 [%0];" ::"l"(far));
        else
            asm volatile("prefetch.global.L2 [%0];" ::"l"(far));
        float below = x[min(row + 1, n - 1) * n + col];
        y[row * n + col] = above + here + below;
        above = here;
        here = below;
    }
}
