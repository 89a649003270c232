// A block shuffles its own 1,024 words: the stores of its warps complete each other's sectors.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: shuffled_in_blocks<<<n / 1024, 1024>>>(y, x)

__global__ void shuffled_in_blocks(float* y, const float* x)
{
    int first = blockIdx.x * 1024, t = threadIdx.x;
    y[first + ((t * 397 + 211) & 1023)] = x[first + t];
}
