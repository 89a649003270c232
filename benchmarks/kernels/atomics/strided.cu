// Every thread adds to a word of its own, `stride` words behind its neighbour's: 32 are a line.
// run: --size n=4194304 --size stride=1 --input x=normal:n --output y=index:stride*n
// run: --size n=4194304 --size stride=4 --input x=normal:n --output y=index:stride*n
// run: --size n=1048576 --size stride=32 --input x=normal:n --output y=index:stride*n
// run: --size n=16777216 --size stride=1 --input x=normal:n --output y=index:stride*n
// launch: strided<<<ceil_div(n, 256), 256>>>(y, x, n, stride)

__global__ void strided(float* y, const float* x, int n, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&y[i * stride], x[i]);
}
