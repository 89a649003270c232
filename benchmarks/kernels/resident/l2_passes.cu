// All blocks together read an array again and again, each time other parts of it: hits in the L2.
// run: --size n=1048576 --size passes=32 --input x=normal:n --output y=float32:n/4
// run: --size n=6291456 --size passes=16 --input x=normal:n --output y=float32:n/4
// run: --size n=10485760 --size passes=16 --input x=normal:n --output y=float32:n/4
// launch: l2_passes<<<n / 1024, 256>>>(y, x, n, passes)

__global__ void l2_passes(float* y, const float* x, int n, int passes)
{
    int quarter = n / 4, first = blockIdx.x * blockDim.x + threadIdx.x, at = first;
    float sum = 0;
    for (int pass = 0; pass < passes; pass++) {
        for (int k = 0; k < 4; k++) sum += x[k * quarter + at];
        at += quarter / 16 + 256;  // so that another block's words come next
        if (at >= quarter) at -= quarter;
    }
    y[first] = sum;
}
