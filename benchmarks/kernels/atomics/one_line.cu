// All warps add to the same 32 neighbouring words, which are one line: the sums of 32 columns.
// run: --size n=524288 --input x=normal:n --output sums=index:32
// run: --size n=8388608 --input x=normal:n --output sums=index:32
// launch: one_line<<<ceil_div(n, 256), 256>>>(sums, x, n)

__global__ void one_line(float* sums, const float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sums[i % 32], x[i]);
}
